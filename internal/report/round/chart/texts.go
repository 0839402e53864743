package chart

import (
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

// Change and Interval return the texts of round.Change and round.Interval with minus signs, as axes have them.
func Change(e *benchmark.Effect) string { return picture.Minus(round.Change(e)) }

// Interval is described at Change.
func Interval(e *benchmark.Effect) string { return picture.Minus(round.Interval(e)) }
