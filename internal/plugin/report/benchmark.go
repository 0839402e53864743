package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report/round"
)

// writeBenchmark writes the report of a round that has ended: of the last one if number is 0. If the artifact of the
// last one is lost, the report has what the status says.
func writeBenchmark(ctx context.Context, c *cluster.Cluster, name string, number int64, format string, out io.Writer) error {
	if !slices.Contains(round.Names(), format) {
		return exit.Errorf(exit.Unknown, "unknown output format %q: use one of %s", format, strings.Join(round.Names(), ", "))
	}
	b, err := c.Benchmark(ctx, name)
	if err != nil {
		return err
	}
	reference, err := cluster.CompletedRound(b, number)
	if err != nil {
		return err
	}
	r := &round.Report{}
	var lost *cluster.LostError
	switch r.Round, err = c.Round(ctx, b, &reference); {
	case errors.As(err, &lost) && b.Status.Round.Number == reference.Number:
		r = round.FromStatus(b)
		r.Notes = append(r.Notes, lost.Error()+".")
	case err != nil:
		return err
	}
	r.Notes = append(notes(b, reference.Number), r.Notes...)
	return round.Write(out, format, r)
}

// notes says how a round stands to the Benchmark as it is.
func notes(b *v1alpha1.Benchmark, number int64) (notes []string) {
	latest := b.Status.Round
	switch {
	case benchmark.IsActive(b):
		notes = append(notes, fmt.Sprintf("Round %d is under way.", latest.Number))
	case latest.Number != number:
		notes = append(notes, fmt.Sprintf("The last round is %d.", latest.Number))
	case latest.Verdict != b.Status.Verdict:
		notes = append(notes, "No round has begun for the spec as it is now. "+benchmark.Succeeded(b).Message)
	}
	return notes
}
