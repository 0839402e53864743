package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/round"
)

// WriteRound writes the report of a Benchmark's round that has ended: of the last one if number is 0. If the artifact of the
// last one is lost, the report has what the status says.
func WriteRound(ctx context.Context, c *cluster.Cluster, name string, number int64, format string, out io.Writer) error {
	if err := doc.CheckFormat(format, roundpage.Formats.Names()); err != nil {
		return exit.Errorf(exit.Unknown, "%w", err)
	}
	b, err := c.Benchmark(ctx, name)
	if err != nil {
		return err
	}
	r, err := readRound(ctx, c, b, number)
	if err != nil {
		return err
	}
	if err = roundpage.Formats.Write(out, format, r); errors.Is(err, html.ErrNoPicture) {
		return exit.Errorf(exit.Failed, "%w", err)
	}
	return err
}

func readRound(ctx context.Context, c *cluster.Cluster, b *v1alpha1.Benchmark, number int64) (*round.Report, error) {
	reference, err := cluster.CompletedRound(b, number)
	if err != nil {
		return nil, err
	}
	r := &round.Report{}
	var lost *cluster.LostError
	switch r.Round, err = c.Round(ctx, b, &reference); {
	case errors.As(err, &lost) && b.Status.Round.Number == reference.Number:
		r = round.FromStatus(b)
		r.Notes = append(r.Notes, lost.Error()+".")
	case err != nil:
		return nil, err
	}
	r.Notes = append(notes(b, reference.Number), r.Notes...)
	return r, nil
}

// notes says how a round stands to the Benchmark as it is.
func notes(b *v1alpha1.Benchmark, number int64) (notes []string) {
	if note := b.Annotations[v1alpha1.AnnotationNote]; note != "" {
		notes = append(notes, note)
	}
	latest := b.Status.Round
	switch {
	case lifecycle.IsActive(b):
		notes = append(notes, fmt.Sprintf("Round %d is under way.", latest.Number))
	case latest.Number != number:
		notes = append(notes, fmt.Sprintf("The last round is %d.", latest.Number))
	case lifecycle.IsRejected(b):
		notes = append(notes, "No round has begun for the spec as it is now. "+lifecycle.Succeeded(b).Message)
	}
	at := slices.IndexFunc(b.Status.History, func(r v1alpha1.RoundReference) bool { return r.Number == number && r.AcceptanceTime != nil })
	switch a := b.Status.Acceptance; {
	case at >= 0:
		notes = append(notes, fmt.Sprintf("This round was accepted as the baseline by hand at %s.", b.Status.History[at].AcceptanceTime.UTC().Format(time.RFC3339)))
	case a != nil && a.Outcome == v1alpha1.AcceptanceRefused && lifecycle.RequestedRound(a.Request) == strconv.FormatInt(number, 10):
		notes = append(notes, "The request to accept this round as the baseline was refused: "+a.Message)
	}
	return notes
}
