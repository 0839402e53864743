package api

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// mutable are the fields that may change.
var mutable = []string{"spec.suspend", "spec.ttlSecondsAfterFinished"}

// others are values that a leaf could have instead of its own.
func (l *leaf) others() []any {
	if enum, ok := l.schema["enum"].([]any); ok {
		return slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return v == l.value })
	}
	switch value := l.value.(type) {
	case bool:
		return []any{!value}
	case float64:
		return []any{value*2 + 1, value * 2, value - 1}
	case string:
		if l.schema["x-kubernetes-int-or-string"] != nil {
			return []any{"8", "8Gi"}
		}
		return []any{value + "a", value + "1"}
	}
	return nil
}

// TestEveryLeafIsImmutable changes every value of the examples, each alone, and
// takes it away.
func TestEveryLeafIsImmutable(t *testing.T) {
	tried := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		document := examples[name]
		t.Run(name, func(t *testing.T) {
			run := createRun(t, newNamespace(t), document, `{}`)
			for _, l := range leavesOf(t, parse(t, document, `{}`).Object) {
				if tried[l.field] || slices.Contains(mutable, l.field) {
					continue
				}
				tried[l.field] = true
				t.Run(l.named, func(t *testing.T) {
					refused := false
					for _, other := range l.others() {
						if other == l.value {
							continue
						}
						err := patchLeaf(t, run, &l, "replace", other)
						if err == nil {
							t.Fatalf("the API server took %v instead of %v", other, l.value)
						}
						refused = refused || strings.Contains(err.Error(), "must not change: create a new run")
					}
					if !refused && len(l.others()) > 0 {
						t.Errorf("no refusal of %v says that it must not change", l.others())
					}
					if l.value == l.schema["default"] {
						return
					}
					if err := patchLeaf(t, run, &l, "remove", nil); err == nil {
						t.Error("the API server took it without this")
					}
				})
			}
		})
	}
}

func patchLeaf(t *testing.T, run client.Object, l *leaf, operation string, value any) error {
	t.Helper()
	object := run.DeepCopyObject().(client.Object)
	return apiClient.Patch(t.Context(), object, client.RawPatch(types.JSONPatchType, leafPatch(t, l, operation, value)), client.DryRunAll)
}

func leafPatch(t *testing.T, l *leaf, operation string, value any) []byte {
	t.Helper()
	patch, err := json.Marshal([]map[string]any{{"op": operation, "path": l.pointer, "value": value}})
	if err != nil {
		t.Fatal(err)
	}
	return patch
}

// hostile are texts that a shell, XML, a configuration file or a header would take
// apart or run, put after a good value.
var hostile = map[string]string{
	"nothing": "", "space": " ", "tab": "\t", "line break at the end": "\n", "second line": "\nb", "header": "\r\nA: b",
	"double quote": `"`, "single quote": `'`, "backtick": "`id`", "substitution": "$(id)", "variable": "${HOME}",
	"semicolon": ";id", "pipe": "|id", "ampersand": "&id", "redirection": ">b", "backslash": `\`, "brace": "{a}",
	"element": "<a/>", "entity": "&amp;", "comment": "#b", "null": "\x00b", "letter not in ASCII": "ß",
}

// verbatim are the fields that are handed on as they are, without a shell, or escaped in XML.
var verbatim = regexp.MustCompile(`\.generic\.(command|args)\[\]$|\.env\[\]\.value$|\.body\.text$|\.form\.fields\[\]\.value$|\.attributes\[\]\.value$|\.jvmOptions\[\]$`)

// urlPaths are the fields that are paths with queries.
var urlPaths = regexp.MustCompile(`^spec\.(load\.requests\[\]\.(path|elements\[\])|target\.readiness\.path|load\.authentication\.form\.(page|path|expect\.location))$`)

// inURLs are those that a path with a query may have.
var inURLs = map[string]bool{"substitution": true, "semicolon": true, "ampersand": true, "entity": true}

// headerValues are the fields that are values of headers.
var headerValues = regexp.MustCompile(`^spec\.(load\.requests\[\]|target\.readiness)\.headers\[\]\.value$`)

// notInHeaders are those that the value of a header can't have.
var notInHeaders = map[string]bool{
	"nothing": true, "space": true, "tab": true, "line break at the end": true, "second line": true, "header": true, "null": true,
}

// ofPods finds the settings of pods that are of one Go type wherever they stand: each is tried once.
var ofPods = regexp.MustCompile(`^spec\.(clients|script|target\.backends\[\])\.((?:affinity|annotations|dnsConfig|env|hostAliases|imagePullSecrets|labels|nodeSelector|priorityClassName|runtimeClassName|securityContext|tolerations|volumeMounts|volumes)\b)`)

// TestHostileTextIsRefused puts hostile text into every text of the examples.
func TestHostileTextIsRefused(t *testing.T) {
	namespace := newNamespace(t)
	tried := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		object := parse(t, examples[name], `{}`)
		for _, l := range leavesOf(t, object.Object) {
			good, isText := l.value.(string)
			kind := ofPods.ReplaceAllString(l.field, "spec.target.$2")
			if !isText || tried[kind] || verbatim.MatchString(l.field) || kubernetesOwn.MatchString(l.field) {
				continue
			}
			tried[kind] = true
			isURLPath := urlPaths.MatchString(l.field)
			for name, text := range hostile {
				if isURLPath && inURLs[name] || headerValues.MatchString(l.field) && !notInHeaders[name] || name == "nothing" && strings.HasSuffix(l.field, ".matchExpressions[].values[]") {
					continue
				}
				bad := good + text
				if text == "" {
					bad = ""
				}
				t.Run(l.field+": "+name, func(t *testing.T) {
					err := dryCreate(t.Context(), withLeaf(t, object, &l, bad), namespace)
					if err == nil {
						t.Fatalf("the API server took %q", bad)
					}
					// A rule that compares several fields names what they are in.
					owner := l.named[:strings.LastIndex(l.named, ".")]
					if owner = strings.TrimRight(owner, "[]0123456789"); !strings.Contains(err.Error(), owner) {
						t.Errorf("the message doesn't name %s:\n%s", l.named, err)
					}
				})
			}
		}
	}
	if len(tried) < 60 {
		t.Errorf("only %d fields have text", len(tried))
	}
}

// TestPathsDontClimb: no path of a folder or a file leads out of where it is.
func TestPathsDontClimb(t *testing.T) {
	namespace := newNamespace(t)
	paths := regexp.MustCompile(`\.(home|base|executable|contentPath|mountPath|content\[\]\.path|pathPrefix|certificateAuthority\..*|key)$`)
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		object := parse(t, examples[name], `{}`)
		for _, l := range leavesOf(t, object.Object) {
			if !paths.MatchString(l.field) || kubernetesOwn.MatchString(l.field) {
				continue
			}
			for _, bad := range []string{l.value.(string) + "/../../etc", "/..", "..", l.value.(string) + "//a"} {
				t.Run(l.field+": "+bad, func(t *testing.T) {
					if err := dryCreate(t.Context(), withLeaf(t, object, &l, bad), namespace); err == nil {
						t.Error("the API server took it")
					}
				})
			}
		}
	}
}

// withLeaf is an object with another value in one place.
func withLeaf(t *testing.T, object *unstructured.Unstructured, l *leaf, value any) *unstructured.Unstructured {
	t.Helper()
	patch, err := jsonpatch.DecodePatch(leafPatch(t, l, "replace", value))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = patch.Apply(data); err != nil {
		t.Fatal(err)
	}
	changed := &unstructured.Unstructured{}
	if err := changed.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestTypedClientsKeepEverything: what a typed client reads and writes back is
// what was there.
func TestTypedClientsKeepEverything(t *testing.T) {
	for name, document := range examples {
		t.Run(name, func(t *testing.T) {
			object := createRun(t, newNamespace(t), document, `{}`).(*unstructured.Unstructured)
			before := object.Object["spec"]
			writeBackTyped(t, object)
			if err := apiClient.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(normal(t, before), normal(t, object.Object["spec"])); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

// TestTypedUpdateOfUnusualValues: a typed client writes amounts in a form of
// its own and leaves out what is false; that isn't a change.
func TestTypedUpdateOfUnusualValues(t *testing.T) {
	for _, c := range []struct{ name, document, patch string }{
		{"amounts", base, `spec: {target: {resources: {cpu: 1, memory: 1024Mi}}, clients: {resources: {cpu: "0.5", memory: 536870912}}}`},
		{"false", tomcatFull, `
spec:
  suspend: false
  target:
    securityContext: {runAsNonRoot: false, allowPrivilegeEscalation: false}
    volumes: [{name: apps, persistentVolumeClaim: {claimName: apps, readOnly: false}}, {name: keys, secret: {secretName: keys, optional: false}}]
    volumeMounts: [{name: apps, mountPath: /a, readOnly: false}]`},
		{"zero", httpdFull, `spec: {ttlSecondsAfterFinished: 0, target: {podSecurity: Baseline, securityContext: {runAsUser: 0, fsGroup: 0}}}`},
		{"empty objects", minimal, `spec: {target: {resources: {}, readiness: {}, affinity: {}, securityContext: {}, backends: [{name: a, image: a, server: {generic: {port: 9000}}}]}, clients: {resources: {}, dnsConfig: {}}, load: {client: {}}}`},
		{"nothing in it", tomcatFull, `spec: {target: {securityContext: {fsGroup: null, sysctls: null, supplementalGroups: null}, tolerations: [{}]}}`},
		{"empty values", genericFull, `spec: {target: {labels: {a: ""}, annotations: {a: ""}, nodeSelector: {a: ""}, volumeMounts: null, volumes: [{name: a, configMap: {name: a}}]}}`},
		{"as much as there may be", minimal, largest()},
	} {
		t.Run(c.name, func(t *testing.T) { writeBackTyped(t, createRun(t, newNamespace(t), c.document, c.patch)) })
	}
}

// largest has as many items as lists may have, with long texts: rules must not
// cost more than the API server lets them.
func largest() string {
	long := strings.Repeat("a", 240)
	value := strings.Repeat("a", 63)
	terms := `matchExpressions: [` + list(8, `{key: a%d, operator: In, values: [`+strings.Join(slices.Repeat([]string{value}, 16), ", ")+`]}`) + `]`
	pods := `requiredDuringSchedulingIgnoredDuringExecution: [` + list(8, `{topologyKey: a%d, labelSelector: {matchLabels: {`+list(16, "a%d: "+value)+`}}}`) + `]`
	settings := `
    labels: {` + list(32, `example.org/a%d: `+value) + `}
    annotations: {` + list(32, `example.org/a%d: `+long) + `}
    env: [` + list(64, `{name: A%d, value: `+long+`}`) + `]
    volumes: [` + list(16, `{name: v%d, configMap: {name: `+long+`}}`) + `]
    volumeMounts: [` + list(16, `{name: v%[1]d, mountPath: /`+long+`%[1]d}`) + `]
    nodeSelector: {` + list(32, `a%d: b`) + `}
    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [` + strings.Repeat(`{`+terms+`}, `, 8) + `]}
        preferredDuringSchedulingIgnoredDuringExecution: [` + strings.Repeat(`{weight: 1, preference: {`+terms+`}}, `, 8) + `]
      podAntiAffinity: {` + pods + `}
    tolerations: [` + list(32, `{key: a%d}`) + `]
    imagePullSecrets: [` + list(8, `{name: a%d}`) + `]
    hostAliases: [` + list(16, `{ip: 10.0.0.%d, hostnames: [`+strings.Join(slices.Repeat([]string{"a." + strings.Repeat("a.", 100) + "org"}, 16), ", ")+`]}`) + `]
    dnsConfig: {nameservers: [10.0.0.1], searches: [` + list(32, `a%d.example.org`) + `], options: [` + list(16, `{name: a%d, value: b}`) + `]}
    securityContext: {sysctls: [` + list(32, `{name: net.ipv4.a%d, value: `+long+`}`) + `]}`
	return `
spec:
  target:
    server:
      tomcat: null
      nginx: {forward: [` + list(16, `{pathPrefix: /`+long+`%d, backend: b0}`) + `]}
    backends: [` + list(4, `{name: b%[1]d, image: a, server: {tomcat: {connector: {port: 900%[1]d}, jvmOptions: [`+list(64, "-D"+long+"=%d")+`]}}, `+
		`env: [`+list(64, `{name: A%d, value: `+long+`}`)+`], volumeMounts: [`+list(16, `{name: v%[1]d, mountPath: /`+long+`%[1]d}`)+`]}`) + `]
    content: [` + list(128, `{path: /`+long+`%d, sizeBytes: 1}`) + `]
    tls: {ciphers: [` + ciphers + `], certificate: {selfSigned: {}, dnsNames: [` + list(16, "a%d."+strings.Repeat("a.", 100)+"org") + `]}}
` + settings + `
  clients:
` + settings + `
    topologySpreadConstraints: [` + list(8, `{topologyKey: a.example.org/`+strings.Repeat("a", 60)+`%d}`) + `]
  load: {requests: [` + list(127, `{path: /`+strings.Repeat("%%20", 660)+`%d}`) +
		`, {path: /, method: POST, body: {text: ` + strings.Repeat("a", 16384) + `}, headers: [` + list(16, `{name: A%d, value: `+long+`}`) + `]}]}
  thresholds: [{metric: LatencyP99, below: 50ms}]
`
}

// writeBackTyped updates a run by a typed client that changes nothing of it but
// a label.
func writeBackTyped(t *testing.T, object client.Object) {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	if err := apiClient.Get(t.Context(), client.ObjectKeyFromObject(object), &run); err != nil {
		t.Fatal(err)
	}
	run.Labels = map[string]string{"a": "b"}
	if err := apiClient.Update(t.Context(), &run); err != nil {
		t.Error(err)
	}
}
