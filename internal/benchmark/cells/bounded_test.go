package cells_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/test/benchtest"
)

// TestACellCostsWhatItChanges makes specs of the largest Benchmarks that the API server accepts: of many cells, many changes of
// each, long paths and large values. What a cell allocates is bounded by the size of the spec, not by its product with the
// number of changes.
func TestACellCostsWhatItChanges(t *testing.T) {
	const size = 40 << 10
	axes := func(options, changes int, change func(axis, i int) v1alpha1.FieldValue) (axes []v1alpha1.Axis) {
		for axis := range options {
			changed := v1alpha1.AxisOption{Name: "changed"}
			for i := range changes {
				changed.Set = append(changed.Set, change(axis, i))
			}
			axes = append(axes, v1alpha1.Axis{Name: fmt.Sprintf("a%d", axis), Options: []v1alpha1.AxisOption{{Name: "template"}, changed}})
		}
		return axes
	}
	text := func(n int) *apiextensionsv1.JSON {
		return &apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", strings.Repeat("x", n))}
	}
	for name, all := range map[string][]v1alpha1.Axis{
		"many changes": axes(8, 32, func(_, i int) v1alpha1.FieldValue {
			return v1alpha1.FieldValue{Path: fmt.Sprintf("/target/annotations/a%d", i), Value: text(size/8/32 - 30)}
		}),
		"a list that grows": axes(8, 32, func(_, _ int) v1alpha1.FieldValue {
			return v1alpha1.FieldValue{Path: "/load/requests/-", Value: &apiextensionsv1.JSON{Raw: []byte(`{"path": "/"}`)}}
		}),
		"a large value, and many that change it": axes(8, 32, func(axis, i int) v1alpha1.FieldValue {
			if axis+i == 0 {
				return v1alpha1.FieldValue{Path: "/target/content", Value: text(size / 2)}
			}
			return v1alpha1.FieldValue{Path: "/lane", Value: text(10)}
		}),
		"a long path": axes(8, 1, func(_, _ int) v1alpha1.FieldValue {
			return v1alpha1.FieldValue{Path: strings.Repeat("/a", size/8/2), Value: text(1)}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha1.BenchmarkSpec{Axes: all}
			spec.Template.Spec = *benchtest.Template(t, benchtest.TomcatTemplate)
			encoded, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			made, err := cells.Of(spec)
			if err != nil || len(made) != cells.Max {
				t.Fatalf("%d cells, %v", len(made), err)
			}
			last := &made[len(made)-1]
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := last.JSON(&spec.Template.Spec); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(64*len(encoded)); got > most {
				t.Errorf("a cell of a spec of %d bytes allocates %d, more than %d", len(encoded), got, most)
			}
		})
	}
}
