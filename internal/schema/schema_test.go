package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/test/definition"
)

// apiServer checks values as the API server does, by its own code.
type apiServer struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

func newAPIServer(t *testing.T, props *apiextensionsv1.JSONSchemaProps) *apiServer {
	t.Helper()
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	values, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		t.Fatal(err)
	}
	return &apiServer{structural, values, cel.NewValidator(structural, false, celconfig.PerCallLimit)}
}

// check returns the problems of a value, sorted, and whether they are those of rules.
func (a *apiServer) check(t *testing.T, text []byte) (problems []string, ofRules bool) {
	t.Helper()
	var value any
	if err := kjson.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	defaulting.Default(value, a.structural)
	root := field.NewPath("plan")
	errs := validation.ValidateCustomResource(root, value, a.values)
	if object, is := value.(map[string]any); is {
		errs = append(errs, listtype.ValidateListSetsAndMaps(root, a.structural, object)...)
	}
	if len(errs) == 0 {
		errs, _ = a.rules.Validate(context.Background(), root, a.structural, value, nil, celconfig.RuntimeCELCostBudget)
		ofRules = true
	}
	for _, err := range errs {
		problem := strings.TrimPrefix(strings.TrimPrefix(err.Field, "plan"), ".")
		if problem == "" && len(errs) > 1 {
			continue // a fraction is reported twice, once without its path
		}
		if _, message, failed := strings.Cut(err.Detail, " evaluating rule: "); failed {
			problem = message // a rule that fails is reported without its path
		} else if ofRules {
			problem += ": " + err.Detail
		}
		problems = append(problems, problem)
	}
	return slices.Compact(slices.Sorted(slices.Values(problems))), ofRules
}

// loads are accepted. Between them they have each field of a load, and tls.
var loads = []string{`
load:
  requests:
  - {path: "/a?b=%20", weight: 3, host: "a.example:80", headers: [{name: X-A, value: b}, {name: Accept, value: c d}], expect: {statuses: [200, 404], bodyBytes: 3}}
  - {path: /b, name: b-1.c, method: POST, body: {sizeBytes: 5}, redirects: Follow}
  - {path: /b, method: PUT, body: {text: abc}}
  order: Sequential
  loadIsPer: Run
  client: {keepAlive: Disabled, protocol: HTTP1, timeoutSeconds: 5}
  closed: {connections: 20, requestCount: 100, thinkTime: {minMilliseconds: 3, maxMilliseconds: 4}}
  warmup: {requestCount: 20}
tls: {serverName: a.example, protocols: [TLSv1.2, TLSv1.3], ciphers: [ECDHE-RSA-AES128-SHA, TLS_AES_128_GCM_SHA256], groups: [X25519], verification: None, sessionResumption: Enabled}
`, `
load:
  requestsFrom: {configMapKeyRef: {name: a, key: b}}
  client: {protocol: HTTP2, streams: 4}
  open: {requestsPerSecond: 100, maxConnections: 10, requestCount: 600, ramp: {from: 20, seconds: 9}, interArrivalTimes: Poisson}
  warmup: {durationSeconds: 5}
tls: {protocols: [TLSv1.3], ciphers: [TLS_AES_128_GCM_SHA256], groups: [X25519MLKEM768, P-256]}
`, `
load:
  requests: [{path: /, elements: [/a, /b]}]
  pages: {connectionsPerUser: 30}
  client: {cookies: Disabled, protocol: HTTP1, keepAlive: Enabled}
  closed: {users: 600, durationSeconds: 9, rampSeconds: 3}
  warmup: {steady: {windowSeconds: 3, windows: 4, throughputPercent: 5, p99Percent: 9, timeoutSeconds: 12}}
tls: {ciphers: [ECDHE-ECDSA-AES128-SHA256, ECDHE-RSA-AES128-SHA256]}
`, `
load:
  requests: [{path: /, elements: [/a]}]
  pages: {connectionsPerUser: 20}
  stages: {thinkTime: {minMilliseconds: 9}, levels: [{users: 1000, holdSeconds: 2}, {users: 3, rampSeconds: 1, holdSeconds: 2}]}
`, `
load:
  requests: [{path: /, headers: [{name: x, value: b}]}]
  authentication: {scheme: Form, secretName: s, form: {page: /p, path: /l, usernameField: u, passwordField: p, fields: [{name: a, value: b}], expect: {statuses: [302], location: /in}}}
  client: {cookies: Enabled}
  stages:
    interArrivalTimes: Constant
    maxConnections: 9
    levels: [{requestsPerSecond: 5, holdSeconds: 2}, {requestsPerSecond: 8, rampSeconds: 0, holdSeconds: 2}]
    stopAt: [{metric: LatencyP99, above: 1.5s}, {metric: ErrorRate, above: 5%}, {metric: ThroughputGain, below: 5%}, {metric: FailedRequests, above: "0"}]
`, `
load:
  requests: [{path: /, headers: [{name: x, value: b}]}]
  authentication: {scheme: Basic, secretName: s}
  client: {protocol: HTTP2, streams: 10}
  stages: {levels: [{connections: 2000, holdSeconds: 2}], stopAt: [{metric: TargetCPU, above: 90%}]}
`}

// refused are loads that break rules which few changes of the loads above break.
var refused = []string{
	`load: {requests: [{path: /, name: a}, {path: /b}, {path: /c, name: a}, {path: /d, name: /d}], stages: {levels: [{connections: 1, holdSeconds: 1}], stopAt: [{metric: ErrorRate, request: GET /, above: 1%}]}}`,
	`load: {requests: [{path: /, host: "a:65536", method: HEAD, expect: {bodyBytes: 1}, headers: [{name: a, value: b}, {name: A, value: c}]}], closed: {connections: 1, durationSeconds: 5, rampSeconds: 6}}`,
	`load: {requests: [{path: /, headers: [{name: Cookie, value: a}]}], client: {cookies: Enabled}, open: {requestsPerSecond: 1, durationSeconds: 5, ramp: {from: 0, seconds: 6}}}`,
	`load: {requests: [{path: /, headers: [{name: Proxy-Connection, value: a}]}, {path: /, headers: [{name: Http2-Settings, value: a}]}], client: {protocol: HTTP2}, closed: {connections: 1, requestCount: 1}}`,
	`load: {requests: [{path: /}], client: {protocol: HTTP2, streams: 10}, stages: {levels: [{connections: 2001, holdSeconds: 1}], stopAt: [{metric: ErrorRate, above: 100%}]}}`,
	`load: {requests: [{path: /}], client: {protocol: HTTP2, streams: 10}, stages: {maxConnections: 2001, levels: [{requestsPerSecond: 1, holdSeconds: 1}], stopAt: [{metric: LatencyP99, above: 2s, below: 1s}]}}`,
	`load: {requests: [{path: /}], pages: {connectionsPerUser: 21}, closed: {users: 1000, requestCount: 999}}`,
	`load: {requests: [{path: /}], client: {protocol: HTTP2}, authentication: {scheme: Form, secretName: a, form: {path: /}}, closed: {connections: 1, requestCount: 1}}`,
	`load: {requests: [{path: /, headers: [{name: Host, value: a}]}], client: {protocol: HTTP2, keepAlive: Disabled}, closed: {connections: 2, requestCount: 1}, warmup: {requestCount: 1}}`,
	`load: {requests: [{path: /}], client: {protocol: HTTP2, streams: 10}, open: {requestsPerSecond: 1000, maxConnections: 2001, requestCount: 1000, ramp: {from: 0, seconds: 3}}}`,
	`load: {requestsFrom: {configMapKeyRef: {name: a, key: b}}, pages: {}, closed: {users: 2, requestCount: 2}, warmup: {requestCount: 1}}`,
	`load: {requests: [{path: /}], pages: {connectionsPerUser: 21}, stages: {levels: [{users: 1000, holdSeconds: 1}], stopAt: [{metric: RequestsPerSecond, above: 1%}]}}`,
	`{load: {requests: [{path: /}], client: {protocol: HTTP2, streams: 10}, closed: {connections: 2001, requestCount: 99999, thinkTime: {minMilliseconds: 2, maxMilliseconds: 1}}}, tls: {protocols: [TLSv1.1, TLSv1.3]}}`,
	`{load: {requests: [{path: /}], closed: {connections: 1, requestCount: 1}}, tls: {protocols: [TLSv1, TLSv1.1], ciphers: [AES128-SHA256]}}`,
	`load: {requests: [{path: /}], pages: {}, client: {protocol: HTTP2}, closed: {users: 1, requestCount: 1}}`,
	`{load: {requests: [{path: /}], closed: {connections: 1, requestCount: 1}}, tls: {ciphers: [TLS_AES_128_GCM_SHA256]}}`,
	`{load: {requests: [{path: /}], closed: {connections: 1, requestCount: 1}}, tls: {protocols: [TLSv1.2], ciphers: [TLS_AES_128_GCM_SHA256]}}`,
	`{load: {requests: [{path: /}], closed: {connections: 1, requestCount: 1}}, tls: {protocols: [TLSv1.2], groups: [X25519MLKEM768]}}`,
}

// texts are values of strings at which rules part.
var texts = []string{
	"", "x", "/", "/a b", "/%2", "/a#", "a.example", "a.example:0", "a.example:65536", "[::1]:8080", "-a", "a_b", "A", "..", " a", "a ", "a\x7f",
	"cookie", "Proxy-Connection", "http2-settings", "HOST", "Content-Length", "X-A", "0", "5", "-1", "0.0", "0%", "0.5%", "19.9%", "20%", "99.9%", "100%", "100.0%", "101%",
	"0s", "1ms", "2s", "1.5s", "1h", "1e3", "2000ms",
}

// mutations returns copies of a value that differ in one place.
func mutations(s *Schema, value any) (all []any) {
	switch s.Type {
	case "integer":
		all = []any{*s.Minimum - 1, *s.Minimum, *s.Minimum + 1, *s.Maximum, *s.Maximum + 1, 20001.0, 1.5, "5"}
	case "number":
		all = []any{*s.Minimum - 0.001, *s.Minimum, 1.5, 1.0, 0.3, 1.001, 99999.999, 0.0005, *s.Maximum, *s.Maximum + 1, "5"}
	case "string":
		for _, text := range append(texts, s.Enum...) {
			all = append(all, text)
		}
		if s.MaxLength != nil {
			all = append(all, "/"+strings.Repeat("a", int(*s.MaxLength)-1), "/"+strings.Repeat("é", int(*s.MaxLength)))
		}
		all = append(all, 5.0)
	case "array":
		items, _ := value.([]any)
		all = []any{[]any{}, "x"}
		for i, item := range items {
			for _, m := range mutations(s.Items, item) {
				all = append(all, slices.Concat(items[:i], []any{m}, items[i+1:]))
			}
			all = append(all, slices.Concat(items, []any{item}), slices.Delete(slices.Clone(items), i, i+1))
		}
		if s.MaxItems != nil && len(items) > 0 {
			all = append(all, slices.Repeat(items[:1], int(*s.MaxItems)+1))
		}
	case "object":
		object, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			field := s.Properties[name]
			given, is := object[name]
			if !is {
				given = sample(field)
			} else {
				without := maps.Clone(object)
				delete(without, name)
				all = append(all, without)
			}
			for _, m := range append(mutations(field, given), given) {
				with := map[string]any{name: m}
				maps.Copy(with, object)
				with[name] = m
				all = append(all, with)
			}
		}
		all = append(all, 5.0)
	}
	return all
}

// sample returns a value with what it must have.
func sample(s *Schema) any {
	switch s.Type {
	case "integer", "number":
		return *s.Minimum
	case "string":
		if s.Enum != nil {
			return s.Enum[0]
		}
		return "/a"
	case "array":
		return []any{sample(s.Items)}
	}
	object := map[string]any{}
	for _, name := range s.Required {
		object[name] = sample(s.Properties[name])
	}
	return object
}

// messages returns the messages of all rules of a schema.
func messages(s *Schema) (all []string) {
	for _, r := range s.Rules {
		all = append(all, r.Message)
	}
	for _, field := range s.Properties {
		all = append(all, messages(field)...)
	}
	if s.Items != nil {
		all = append(all, messages(s.Items)...)
	}
	return all
}

// TestSchemaIsTheAPIs compares what the schema of plans finds wrong with loads with what the API server finds by the schema and the
// rules of a BenchmarkRun, in loads with one or two random changes.
func TestSchemaIsTheAPIs(t *testing.T) {
	text, err := os.ReadFile("../load/planfile/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var plan Schema
	if err := json.Unmarshal(text, &plan); err != nil {
		t.Fatal(err)
	}
	plan.Properties = map[string]*Schema{"load": plan.Properties["load"], "tls": plan.Properties["tls"]}
	plan.Required = nil
	run := definition.Schema[apiextensionsv1.JSONSchemaProps](t, "../../config/crd/bases/assay.dev_benchmarkruns.yaml")
	spec := run.Properties["spec"].Properties
	tls := spec["target"].Properties["tls"]
	for _, name := range []string{"certificateAuthorityFile", "clientCertificateFile", "clientKeyFile"} {
		delete(plan.Properties["tls"].Properties, name) // a file in a plan is an object in a BenchmarkRun
	}
	server := newAPIServer(t, &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"load": spec["load"], "tls": tls},
	})

	broken, cases := map[string]bool{}, 0
	compare := func(t *testing.T, value any) {
		t.Helper()
		cases++
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		want, ofRules := server.check(t, text)
		var own any
		if err := json.Unmarshal(text, &own); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range plan.Check(own) {
			problem := p.Path
			if slices.Contains(want, p.Message) {
				problem = p.Message
			} else if ofRules {
				problem += ": " + p.Message
			}
			broken[p.Message] = true
			got = append(got, problem)
		}
		if diff := cmp.Diff(want, slices.Compact(slices.Sorted(slices.Values(got)))); diff != "" {
			t.Errorf("%s: the API server's -, own +:\n%s", text, diff)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i, load := range loads {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			var base any
			if err := yaml.Unmarshal([]byte(load), &base); err != nil {
				t.Fatal(err)
			}
			if found := plan.Check(base); len(found) > 0 {
				t.Fatal(found)
			}
			once := mutations(&plan, base)
			for i := random.IntN(8); i < len(once); i += 8 {
				compare(t, once[i])
			}
			for range 30 {
				value := once[random.IntN(len(once))]
				if object, is := value.(map[string]any); is {
					next := mutations(&plan, object)
					value = next[random.IntN(len(next))]
				}
				compare(t, value)
			}
		})
	}
	for _, load := range refused {
		var value any
		if err := yaml.Unmarshal([]byte(load), &value); err != nil {
			t.Fatal(err)
		}
		compare(t, value)
	}
	for _, message := range messages(&plan) {
		if !broken[message] {
			t.Errorf("no value breaks the rule %q", message)
		}
	}
	t.Logf("%d values", cases)
}
