package api

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/test/definition"
)

// A schema is a piece of OpenAPI, as the CRD has it.
type schema map[string]any

func (s schema) of(key string) schema {
	child, _ := s[key].(map[string]any)
	return child
}

func (s schema) properties() map[string]schema {
	all := map[string]schema{}
	for name, property := range s.of("properties") {
		all[name], _ = property.(map[string]any)
	}
	return all
}

// crdSchema is the schema of BenchmarkRun, or of another kind.
func crdSchema(t *testing.T, kind ...string) schema {
	t.Helper()
	return definition.Schema[schema](t, definitionOf(append(kind, "benchmarkruns")[0]))
}

func definitionOf(kind string) string { return filepath.Join(crdFolder, "assay.dev_"+kind+".yaml") }

// visit goes through all fields below a schema. A path has [] for the items of
// a list and {} for the values of a map.
func (s schema) visit(path string, see func(path string, field schema)) {
	see(path, s)
	for name, property := range s.properties() {
		property.visit(path+"."+name, see)
	}
	if items := s.of("items"); items != nil {
		items.visit(path+"[]", see)
	}
	if values := s.of("additionalProperties"); values != nil {
		values.visit(path+"{}", see)
	}
}

// kubernetesOwn are the fields whose types are Kubernetes' own, which have no
// bounds; the size of a request bounds them.
var kubernetesOwn = regexp.MustCompile(`^spec\.(target|clients)\..*(annotations|[lL]abels|nodeSelector)\{\}$|^status\.conditions\[\]\.`)

// described are below fields that target has too, where they are described: hack/crd removes what would fill the CRD.
var described = regexp.MustCompile(`^spec\.clients\.(resources|labels|annotations|env|volumes|volumeMounts|affinity|tolerations|imagePullSecrets|hostAliases|dnsConfig|securityContext)[.[{]` +
	`|^spec\.target\.backends\[\]\.(resources|env|volumeMounts|securityContext|server)[.[{]`)

// elsewhere matches the end of a description that says where the fields below are described.
var elsewhere = regexp.MustCompile(` As ([\w.]+)[.]$`)

// TestEveryFieldIsDocumented: kubectl explain shows these texts, or says where they are.
func TestEveryFieldIsDocumented(t *testing.T) {
	texts := map[string]string{}
	for _, part := range []string{"spec", "status"} {
		crdSchema(t).properties()[part].visit(part, func(path string, field schema) {
			if !strings.HasSuffix(path, "[]") && !strings.HasSuffix(path, "{}") {
				texts[path], _ = field["description"].(string)
			}
		})
	}
	if len(texts) < 300 {
		t.Errorf("only %d fields were found", len(texts))
	}
	index := strings.NewReplacer("[]", "", "{}", "")
	at := map[string]string{}
	for path, text := range texts {
		at[index.Replace(path)] = text
	}
	for path, text := range texts {
		if len(text) >= 8 || described.MatchString(path) || strings.HasPrefix(path, "status.conditions[].") {
			continue
		}
		place := ""
		for above := index.Replace(path); place == "" && strings.Contains(above, "."); {
			above = above[:strings.LastIndex(above, ".")]
			if match := elsewhere.FindStringSubmatch(at[above]); match != nil {
				place = match[1] + index.Replace(path)[len(above):]
			}
		}
		if !strings.HasPrefix(place, "pod.spec.") && len(at[place]) < 8 {
			t.Errorf("%s isn't documented: %q, nor %q", path, text, place)
		}
	}
}

// TestEveryFieldIsBounded keeps any run within what etcd takes, and the rules
// within what they may cost.
func TestEveryFieldIsBounded(t *testing.T) {
	for _, part := range []string{"spec", "status"} {
		crdSchema(t).properties()[part].visit(part, func(path string, field schema) {
			if kubernetesOwn.MatchString(path) {
				return
			}
			bound := map[any]string{"array": "maxItems", "string": "maxLength", "integer": "maximum"}[field["type"]]
			if field.of("additionalProperties") != nil {
				bound = "maxProperties"
			}
			switch {
			case bound == "" || field[bound] != nil || field["enum"] != nil || field["x-kubernetes-int-or-string"] != nil:
			case field["format"] == "date-time":
			case bound == "maximum" && (field["format"] == "int32" || field["format"] == "int64"):
			default:
				t.Errorf("%s has no %s", path, bound)
			}
		})
	}
}

// A leaf is a single value in a run: its field as the schema has it, its JSON
// pointer, and its field as messages have it.
type leaf struct {
	field, pointer, named string
	schema                schema
	value                 any
}

// leavesOf are the leaves of a run's spec.
func leavesOf(t *testing.T, object map[string]any) []leaf {
	t.Helper()
	return leaves(crdSchema(t).properties()["spec"], leaf{field: "spec", pointer: "/spec", named: "spec", value: object["spec"]})
}

func leaves(s schema, at leaf) []leaf {
	at.schema = s
	var all []leaf
	below := func(s schema, field, step, named string, value any) {
		escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
		all = append(all, leaves(s, leaf{field: field, pointer: at.pointer + "/" + escaped, named: named, value: value})...)
	}
	switch value := at.value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if property, ok := s.properties()[key]; ok {
				below(property, at.field+"."+key, key, at.named+"."+key, value[key])
			} else {
				below(s.of("additionalProperties"), at.field+"{}", key, at.named, value[key])
			}
		}
	case []any:
		for i, item := range value {
			below(s.of("items"), at.field+"[]", fmt.Sprint(i), fmt.Sprintf("%s[%d]", at.named, i), item)
		}
	default:
		return []leaf{at}
	}
	return all
}

// TestExamplesHaveEveryField keeps the examples complete when fields are added,
// and with them every test that goes through their leaves.
func TestExamplesHaveEveryField(t *testing.T) {
	had := map[string]bool{}
	for _, document := range examples {
		for _, l := range leavesOf(t, parse(t, document, `{}`).Object) {
			for at := l.field; at != "spec"; at = at[:strings.LastIndexAny(at, ".[{")] {
				had[at] = true
			}
		}
	}
	crdSchema(t).properties()["spec"].visit("spec", func(path string, _ schema) {
		switch {
		case path == "spec" || had[path] || kubernetesOwn.MatchString(path):
		case strings.HasSuffix(path, ".selfSigned"): // it has no fields
		case path == "spec.target.backends[].server.tomcat.connector.tlsImplementation", path == "spec.target.backends[].server.tomcat.connector.honorCipherOrder",
			path == "spec.load.stages.stopAt[].request": // a rule forbids it
		default:
			t.Errorf("no example has %s", path)
		}
	})
}
