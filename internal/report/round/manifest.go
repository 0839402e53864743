package round

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
)

// manifestBlocks is the number of blocks of a Benchmark that repeats two runs.
const manifestBlocks = 10

// Manifest returns a Benchmark, as YAML, that repeats two single runs in blocks: its cell a is the baseline's run, b the
// candidate's. It is empty if a side isn't a single run.
func (c *Comparison) Manifest() (string, error) {
	if c.Baseline.Spec == nil || c.Candidate.Spec == nil {
		return "", nil
	}
	a, err := fields(c.Baseline.Spec)
	if err != nil {
		return "", err
	}
	b, err := fields(c.Candidate.Spec)
	if err != nil {
		return "", err
	}
	var change specChange
	change.add("", a, b)
	candidate := map[string]any{"name": "b"}
	if len(change.remove) > 0 {
		candidate["remove"] = change.remove
	}
	if len(change.set) > 0 {
		candidate["set"] = change.set
	}
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Benchmark", "metadata": map[string]any{"name": "a-or-b"},
		"spec": map[string]any{
			"axes":        []any{map[string]any{"name": "run", "options": []any{map[string]any{"name": "a"}, candidate}}},
			"repetitions": map[string]any{"min": manifestBlocks},
			"comparison": map[string]any{
				"baseline": map[string]any{"cell": map[string]any{"run": "a"}},
				"metrics":  []any{map[string]any{"name": "LatencyP99"}, map[string]any{"name": "RequestsPerSecond"}},
			},
			"template": map[string]any{"spec": a},
		},
	})
	if err != nil {
		return "", fmt.Errorf("write manifest: %w", err)
	}
	return fmt.Sprintf("# a is %s, b is %s\n%s", printable.Text(c.Baseline.Name), printable.Text(c.Candidate.Name), manifest), nil
}

// fields returns a spec as JSON values, without what isn't part of the measurement.
func fields(spec *v1alpha1.BenchmarkRunSpec) (map[string]any, error) {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode spec: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(encoded, &all); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	delete(all, "suspend")
	delete(all, "ttlSecondsAfterFinished")
	return all, nil
}

// specChange has what makes one spec of another, by JSON pointers.
type specChange struct {
	remove []string
	set    []any
}

// add adds what makes b of a, both of which are at a path.
func (c *specChange) add(path string, a, b map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, has := b[name]; !has {
			c.remove = append(c.remove, path+"/"+pointerToken.Replace(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		at := path + "/" + pointerToken.Replace(name)
		before, isMap := a[name].(map[string]any)
		after, isMapToo := b[name].(map[string]any)
		switch {
		case isMap && isMapToo:
			c.add(at, before, after)
		case !reflect.DeepEqual(a[name], b[name]):
			c.set = append(c.set, map[string]any{"path": at, "value": b[name]})
		}
	}
}
