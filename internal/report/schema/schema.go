// Package schema makes the JSON schemas of reports from their Go types. Only tests use it: they write the published
// schemas in docs/schema, and fail if those are out of date.
package schema

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"

	"github.com/invopop/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
)

const (
	module = "github.com/assay-dev/assay"
	// base is the directory of the published schemas.
	base = "https://" + module + "/raw/main/docs/schema/"
)

// packages are those whose comments describe fields, as paths in the module.
var packages = []string{"internal/result", "internal/benchmark", "internal/k6metric", "internal/report", "api/v1alpha1"}

// Of returns the JSON schema (draft 2020-12) of the JSON of a document, with the comments of its types as
// descriptions. The working directory must be the module's. A strict schema rejects fields that the types don't have;
// others accept what a later version adds.
func Of(document any, name, title string, strict bool) ([]byte, error) {
	r := &jsonschema.Reflector{AllowAdditionalProperties: !strict, ExpandedStruct: true, LookupComment: help}
	for _, directory := range packages {
		if err := r.AddGoComments(module, directory, jsonschema.WithFullComment()); err != nil {
			return nil, fmt.Errorf("read comments: %w", err)
		}
	}
	names := map[string]reflect.Type{}
	r.Namer = func(t reflect.Type) string { return unique(names, t) }
	m := &mapper{reflector: *r, strict: strict}
	r.Mapper = m.schemaOf
	s := r.Reflect(document)
	s.ID, s.Title = jsonschema.ID(base+name), title
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	allowNull(tree)
	encoded, err = json.MarshalIndent(tree, "", " ")
	return append(encoded, '\n'), err
}

// unique returns the name of a type, with that of its package before it if another type has the same.
func unique(names map[string]reflect.Type, t reflect.Type) string {
	name := t.Name()
	if other, taken := names[name]; name != "" && taken && other != t {
		name = path.Base(t.PkgPath()) + "." + name
	}
	names[name] = t
	return name
}

// help returns the text about a value that is in the table of its type.
func help(t reflect.Type, field string) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	f, _ := t.FieldByName(field)
	return f.Tag.Get("help")
}

// mapper has the schemas of types that write their own JSON.
type mapper struct {
	reflector jsonschema.Reflector
	strict    bool
}

func (m *mapper) schemaOf(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[result.Histogram]():
		return m.inline(result.Encoded{})
	case reflect.TypeFor[result.Latencies]():
		return m.byName(phases(), m.inline(result.Encoded{}))
	case reflect.TypeFor[result.Summaries]():
		return m.byName(phases(), m.inline(result.Summary{}))
	case reflect.TypeFor[result.PhaseTimes]():
		times := m.inline(result.PhaseTime{})
		times.Required = times.Required[:3] // percentiles may be unknown
		return m.byName(phases(), times)
	case reflect.TypeFor[result.ErrorCounts]():
		s := m.byName(append(errorKinds(), "total"), &jsonschema.Schema{Type: "integer"})
		s.Required = []string{"total"}
		return s
	case reflect.TypeFor[result.Causes]():
		return m.byName(errorKinds(), m.inline([]result.Cause{}))
	case reflect.TypeFor[result.Percentiles]():
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "integer"}}
	case reflect.TypeFor[result.Used]():
		return metrics(m, result.ServerMetrics)
	case reflect.TypeFor[result.NodeUsage]():
		return metrics(m, result.NodeMetrics)
	case reflect.TypeFor[v1alpha1.BenchmarkSpec]():
		return &jsonschema.Schema{Type: "object", Description: "spec of the Benchmark, as its CustomResourceDefinition describes it"}
	case reflect.TypeFor[metav1.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[[]*float64]():
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}}
	}
	if marshaler := reflect.TypeFor[json.Marshaler](); t.PkgPath() != "time" && (t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)) {
		return &jsonschema.Schema{} // anything
	}
	return nil
}

// inline returns the schema of a type without a reference.
func (m *mapper) inline(v any) *jsonschema.Schema {
	r := m.reflector
	r.DoNotReference, r.Anonymous, r.Mapper = true, true, m.schemaOf
	s := r.Reflect(v)
	s.Version = ""
	return s
}

// byName returns the schema of an object with values by the names.
func (m *mapper) byName(names []any, value *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: value}
	if m.strict {
		s.PropertyNames = &jsonschema.Schema{Enum: names}
	}
	return s
}

func errorKinds() []any {
	var names []any
	for k := range result.ErrorKinds {
		names = append(names, k.String())
	}
	return names
}

func phases() []any {
	var names []any
	for p := range result.Phases {
		names = append(names, p.String())
	}
	return names
}

// metrics returns the schema of those metrics of a table that are known.
func metrics[T any](m *mapper, table result.Table[T]) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	if m.strict {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	for i := range table {
		f := &table[i]
		s.Properties.Set(f.Name, &jsonschema.Schema{Type: "integer", Description: f.Help})
		if !f.Optional {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

// allowNull lets arrays be null, which is the JSON of an empty slice that was never set.
func allowNull(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		if tree["type"] == "array" {
			tree["type"] = []any{"array", "null"}
		}
		for _, child := range tree {
			allowNull(child)
		}
	case []any:
		for _, child := range tree {
			allowNull(child)
		}
	}
}
