package objects

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
)

// Plans reports whether the round can make a run of a key. A run of another key has no place in it.
func Plans(p *plan.Planner, k benchmark.RunKey) bool {
	if k.Round != p.Number || k.Cell < 0 || k.Cell >= len(p.Cells) {
		return false
	}
	if k.Trial {
		return p.Spec.Capacity != nil
	}
	_, most := blocks.Bounds(p.Spec)
	return k.Number < most
}

// PlannedSpec returns the spec of the run of a key, as JSON. That of a trial has the load capacity.from: Difference
// knows that others have other loads.
func PlannedSpec(p *plan.Planner, k benchmark.RunKey) ([]byte, error) {
	cell, template := &p.Cells[k.Cell], &p.Spec.Template.Spec
	if k.Trial {
		return cell.TrialJSON(template, p.Spec.Capacity, p.Spec.Capacity.From)
	}
	return cell.JSON(template)
}

// Difference returns how a run differs from the planned one, or "" if the Benchmark could have created it. Both must be
// as the API server returns them, so that both have the defaults of the same version. Only what the Benchmark sets and
// what users can't change is compared: not suspend, not ttlSecondsAfterFinished, and no metadata but the Benchmark's
// own. A trial may have any load within capacity.from and capacity.max.
func Difference(p *plan.Planner, k benchmark.RunKey, run, planned *v1alpha1.BenchmarkRun) (string, error) {
	for _, name := range []string{benchmark.LabelBenchmark, benchmark.LabelRound} {
		if got, want := run.Labels[name], planned.Labels[name]; got != want {
			return fmt.Sprintf("metadata.labels[%s] is %s, must be %s", name, shown(got), shown(want)), nil
		}
	}
	if got, want := run.Annotations[benchmark.AnnotationCell], planned.Annotations[benchmark.AnnotationCell]; got != want {
		return fmt.Sprintf("metadata.annotations[%s] is %s, must be %s", benchmark.AnnotationCell, shown(got), shown(want)), nil
	}
	got, difference, err := measuredSpec(p, k, &run.Spec)
	if err != nil || difference != "" {
		return difference, err
	}
	want, _, err := measuredSpec(p, k, &planned.Spec)
	if err != nil {
		return "", err
	}
	var gotFields, wantFields map[string]any
	if err := errors.Join(utiljson.Unmarshal(got, &gotFields), utiljson.Unmarshal(want, &wantFields)); err != nil {
		return "", fmt.Errorf("decode spec: %w", err)
	}
	return firstDifference("spec", gotFields, wantFields), nil
}

// Digest identifies what is measured by a run of a key: two runs that differ in nothing that Difference compares have the
// same. It is the zero value for a trial with a load that the round doesn't make.
func Digest(p *plan.Planner, k benchmark.RunKey, run *v1alpha1.BenchmarkRun) ([sha256.Size]byte, error) {
	spec, difference, err := measuredSpec(p, k, &run.Spec)
	if err != nil || difference != "" {
		return [sha256.Size]byte{}, err
	}
	encoded, err := json.Marshal([]any{run.Labels[benchmark.LabelBenchmark], run.Labels[benchmark.LabelRound], run.Annotations[benchmark.AnnotationCell], json.RawMessage(spec)})
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("encode what is measured: %w", err)
	}
	return sha256.Sum256(encoded), nil
}

// measuredSpec returns a run's spec as JSON, without what can be changed after its creation. A trial has the load
// capacity.from in it; if its own isn't one that the round makes, measuredSpec returns how it differs.
func measuredSpec(p *plan.Planner, k benchmark.RunKey, spec *v1alpha1.BenchmarkRunSpec) (encoded []byte, difference string, err error) {
	if want := p.Alternation(k); !reflect.DeepEqual(spec.Alternation, want) {
		return nil, fmt.Sprintf("spec.alternation is %s, must be %s", shown(spec.Alternation), shown(want)), nil
	}
	measured := *spec
	measured.Suspend, measured.TTLSecondsAfterFinished, measured.Alternation = nil, nil, nil // the latter differs between blocks
	if encoded, err = json.Marshal(&measured); err != nil {
		return nil, "", fmt.Errorf("encode spec: %w", err)
	}
	if !k.Trial {
		return encoded, "", nil
	}
	c := p.Spec.Capacity
	load, err := cells.LoadOf(spec, c)
	if err != nil {
		return nil, "spec" + err.Error(), nil //nolint:nilerr // it is the run's
	}
	if load < c.From || load > c.Max {
		return nil, fmt.Sprintf("spec%s is %d, must be %d to %d", c.Path, load, c.From, c.Max), nil
	}
	if encoded, err = cells.Set(encoded, c.Path, c.From); err != nil {
		return nil, "", fmt.Errorf("set capacity.path %s: %w", c.Path, err)
	}
	return encoded, "", nil
}

// firstDifference returns the first difference between two values of decoded JSON, or "".
func firstDifference(path string, got, want any) string {
	if gotFields, ok := got.(map[string]any); ok {
		if wantFields, ok := want.(map[string]any); ok {
			names := maps.Clone(wantFields)
			maps.Copy(names, gotFields)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				if d := firstDifference(path+"."+name, gotFields[name], wantFields[name]); d != "" {
					return d
				}
			}
			return ""
		}
	}
	if gotItems, ok := got.([]any); ok {
		if wantItems, ok := want.([]any); ok && len(gotItems) == len(wantItems) {
			for i := range gotItems {
				if d := firstDifference(fmt.Sprintf("%s[%d]", path, i), gotItems[i], wantItems[i]); d != "" {
					return d
				}
			}
			return ""
		}
	}
	if shownFull(got) == shownFull(want) {
		return ""
	}
	return fmt.Sprintf("%s is %s, must be %s", path, shown(got), shown(want))
}

// maxShown limits a value in a message, in bytes.
const maxShown = 200

func shown(value any) string {
	text := shownFull(value)
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "..."
	}
	return text
}

// shownFull returns a value of decoded JSON as compact JSON, which escapes control characters.
func shownFull(value any) string {
	if value == nil {
		return "not set"
	}
	encoded, err := json.Marshal(value)
	if err != nil { // it was decoded before
		return strings.ToValidUTF8(fmt.Sprint(value), "")
	}
	return string(encoded)
}

// Forged returns the outcome of a round that has a run in its name that it didn't create.
func Forged(name, cell, difference string) *verdict.End {
	return &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonNameConflict, Message: fmt.Sprintf(
		"BenchmarkRun %s has the name of a run of cell %s, but is not the one that the Benchmark creates: %s. "+
			"It was neither counted nor deleted. Find out who created it, delete it, and begin another round.", name, cell, difference)}
}
