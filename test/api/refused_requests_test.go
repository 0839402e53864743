package api

import (
	"slices"
	"strings"
	"testing"
)

// goodRequests are items of load.requests that are taken.
var goodRequests = map[string]string{
	"POST of a text":             `{path: /, method: POST, body: {text: a}}`,
	"PUT of the longest text":    `{path: /, method: PUT, body: {text: "` + strings.Repeat("ß", 16384) + `"}}`,
	"PATCH of the longest body":  `{path: /, method: PATCH, body: {sizeBytes: 67108864}}`,
	"DELETE with a body":         `{path: /, method: DELETE, body: {sizeBytes: 1}}`,
	"OPTIONS":                    `{path: /, method: OPTIONS}`,
	"POST without a body":        `{path: /, method: POST}`,
	"any printable header":       `{path: /, headers: [{name: X-A_b.c, value: "a \"b\"; 'c' <d> $(e) {f} \\g"}]}`,
	"the client's own headers":   `{path: /, headers: [{name: User-Agent, value: a}, {name: accept, value: b}, {name: Cookie, value: c=d}]}`,
	"header in UTF-8":            `{path: /, headers: [{name: A, value: "Grüße, 世界"}]}`,
	"host on the last port":      `{path: /, host: "www.example.org:65535"}`,
	"host that is an address":    `{path: /, host: "[2001:db8::1]:8080"}`,
	"an empty body expected":     `{path: /, expect: {bodyBytes: 0}}`,
	"every status at its bounds": `{path: /, expect: {statuses: [200, 599]}}`,
}

// withRequest is a patch that makes something the only request.
func withRequest(fields string) string {
	return `spec: {load: {requests: [{path: /, ` + fields + `}]}}`
}

// withForm is a patch that has connections log in by a form.
func withForm(fields string) string {
	return `spec: {load: {authentication: {scheme: Form, secretName: a, form: {` + fields + `}}, client: {cookies: Enabled}}}`
}

// named is a patch with thresholds of a load of two requests, the first of which has the name cart.
func named(thresholds string) string {
	return `spec: {load: {requests: [{name: cart, path: /cart, method: POST}, {path: /a}]}, target: {readiness: {path: /a}}, thresholds: ` + thresholds + `}`
}

var requestRefusals = []refusal{
	{name: "a name twice", patch: `spec: {load: {requests: [{path: /a, name: a}, {path: /b}, {path: /c, name: a}]}}`,
		want: []string{"spec.load.requests", "must not have the same name twice"}},
	{name: "a path as a name", patch: withRequest(`name: /a`),
		want: []string{"spec.load.requests[0].name", "letters, digits"}},
	{name: "a name with a space", patch: withRequest(`name: "add to cart"`),
		want: []string{"spec.load.requests[0].name", "letters, digits"}},
	{name: "a long name", patch: withRequest(`name: ` + strings.Repeat("a", 64)),
		want: []string{"spec.load.requests[0].name", "63"}},
	{name: "a stop by a request", patch: `spec: {load: {closed: null, stages: {levels: [{connections: 1, holdSeconds: 1}], stopAt: [{metric: ErrorRate, request: GET /, above: 1%}]}}}`,
		want: []string{"spec.load.stages.stopAt[0].request", "must not have request"}},
	{name: "unknown method", patch: withRequest(`method: TRACE`),
		want: []string{"spec.load.requests[0].method", `"GET"`, `"OPTIONS"`}},
	{name: "method in small letters", patch: withRequest(`method: get`),
		want: []string{"spec.load.requests[0].method", `"GET"`}},
	{name: "GET with a body", patch: withRequest(`body: {text: a}`),
		want: []string{"spec.load.requests[0].body", "must not be set with GET and HEAD"}},
	{name: "HEAD with a body", patch: `spec: {target: {readiness: {path: /}}, load: {requests: [{path: /, method: HEAD, body: {text: a}}]}}`,
		want: []string{"spec.load.requests[0].body", "must not be set with GET and HEAD"}},
	{name: "HEAD with a length", patch: withRequest(`method: HEAD, expect: {bodyBytes: 0}`),
		want: []string{"spec.load.requests[0].expect.bodyBytes", "must not be set with HEAD"}},
	{name: "body with both", patch: withRequest(`method: POST, body: {text: a, sizeBytes: 1}`),
		want: []string{"spec.load.requests[0].body", "exactly one of the fields in [text sizeBytes]"}},
	{name: "body with neither", patch: withRequest(`method: POST, body: {}`),
		want: []string{"spec.load.requests[0].body", "exactly one of the fields in [text sizeBytes]"}},
	{name: "body too long", patch: withRequest(`method: POST, body: {sizeBytes: 67108865}`),
		want: []string{"spec.load.requests[0].body.sizeBytes", "less than or equal to 67108864"}},
	{name: "body of no bytes", patch: withRequest(`method: POST, body: {sizeBytes: 0}`),
		want: []string{"spec.load.requests[0].body.sizeBytes", "greater than or equal to 1"}},
	{name: "text too long", patch: withRequest(`method: POST, body: {text: ` + strings.Repeat("a", 16385) + `}`),
		want: []string{"spec.load.requests[0].body.text", "16384"}},
	{name: "host with a path", patch: withRequest(`host: www.example.org/a`),
		want: []string{"spec.load.requests[0].host", "name or an address"}},
	{name: "host that is a URL", patch: withRequest(`host: "http://www.example.org"`),
		want: []string{"spec.load.requests[0].host", "name or an address"}},
	{name: "host on a port that can't be", patch: withRequest(`host: "www.example.org:65536"`),
		want: []string{"spec.load.requests[0].host", "port up to 65535"}},
	{name: "host on no port", patch: withRequest(`host: "www.example.org:0"`),
		want: []string{"spec.load.requests[0].host", "must be a name or an address, with a port if need be, such as [2001:db"}},
	{name: "host with an empty label", patch: withRequest(`host: www..example.org`),
		want: []string{"spec.load.requests[0].host", "name or an address"}},
	{name: "host whose label begins with a hyphen", patch: withRequest(`host: www.-example.org`),
		want: []string{"spec.load.requests[0].host", "name or an address"}},
	{name: "header without a value", patch: withRequest(`headers: [{name: A}]`),
		want: []string{"spec.load.requests[0].headers[0].value", "Required value"}},
	{name: "header whose name has a colon", patch: withRequest(`headers: [{name: "A:", value: a}]`),
		want: []string{"spec.load.requests[0].headers[0].name", "name of a header"}},
	{name: "header of two lines", patch: withRequest(`headers: [{name: A, value: "a\r\nB: b"}]`),
		want: []string{"spec.load.requests[0].headers[0].value", "printable characters"}},
	{name: "the same header twice", patch: withRequest(`headers: [{name: A, value: a}, {name: A, value: b}]`),
		want: []string{"spec.load.requests[0].headers[1]", "Duplicate value"}},
	{name: "the same header in capitals", patch: withRequest(`headers: [{name: X-A, value: a}, {name: x-a, value: b}]`),
		want: []string{"spec.load.requests[0].headers", "must not have the same name twice"}},
	{name: "header with a space at its end", patch: withRequest(`headers: [{name: A, value: "a "}]`),
		want: []string{"spec.load.requests[0].headers[0].value", "without spaces around it"}},
	{name: "no statuses", patch: withRequest(`expect: {statuses: []}`),
		want: []string{"spec.load.requests[0].expect.statuses", "at least 1 item"}, rawOnly: true},
	{name: "interim status", patch: withRequest(`expect: {statuses: [100]}`),
		want: []string{"spec.load.requests[0].expect.statuses[0]", "greater than or equal to 200"}},
	{name: "status of no response", patch: withRequest(`expect: {statuses: [600]}`),
		want: []string{"spec.load.requests[0].expect.statuses[0]", "less than or equal to 599"}},
	{name: "the same status twice", patch: withRequest(`expect: {statuses: [200, 200]}`),
		want: []string{"spec.load.requests[0].expect.statuses[1]", "Duplicate value"}},
	{name: "negative length", patch: withRequest(`expect: {bodyBytes: -1}`),
		want: []string{"spec.load.requests[0].expect.bodyBytes", "greater than or equal to 0"}},
	{name: "unknown redirects", patch: withRequest(`redirects: Always`),
		want: []string{"spec.load.requests[0].redirects", `"Ignore", "Follow"`}},
	{name: "unknown order", patch: `spec: {load: {order: Reverse}}`,
		want: []string{"spec.load.order", `"Random", "Sequential"`}},
	{name: "unknown cookies", patch: `spec: {load: {client: {cookies: PerConnection}}}`,
		want: []string{"spec.load.client.cookies", `"Enabled", "Disabled"`}},
	{name: "two sources of cookies",
		patch: `spec: {load: {client: {cookies: Enabled}, requests: [{path: /, headers: [{name: cookie, value: a=b}]}]}}`,
		want:  []string{"spec.load.requests", "must not have the header Cookie"}},
	{name: "first request that can't tell readiness", patch: `spec: {target: {readiness: {path: null}}, load: {requests: [{path: /, method: POST}]}}`,
		want: []string{"spec.target.readiness.path", "if the first request isn't GET or HEAD"}},

	// lists of requests
	{name: "requests from two places", patch: `spec: {load: {requestsFrom: {configMapKeyRef: {name: a, key: b}}}}`,
		want: []string{"spec.load", "exactly one of the fields in [requests requestsFrom]"}},
	{name: "list from nowhere", patch: `spec: {load: {requests: null, requestsFrom: {}}}`,
		want: []string{"spec.load.requestsFrom.configMapKeyRef", "Required value"}},
	{name: "list that can't tell readiness", patch: `spec: {target: {readiness: {path: null}}, load: {requests: null, requestsFrom: {configMapKeyRef: {name: a, key: b}}}}`,
		want: []string{"spec.target.readiness.path", "with load.requestsFrom"}},

	// authentication
	{name: "form of another scheme", patch: `spec: {load: {authentication: {scheme: Basic, secretName: a, form: {path: /login}}}}`,
		want: []string{"spec.load.authentication.form", "with no other"}},
	{name: "scheme Form without one", patch: `spec: {load: {authentication: {scheme: Form, secretName: a}, client: {cookies: Enabled}}}`,
		want: []string{"spec.load.authentication.form", "must be set with the scheme Form"}},
	{name: "users who are forgotten", patch: `spec: {load: {authentication: {scheme: Form, secretName: a, form: {path: /login}}}}`,
		want: []string{"spec.load.client.cookies", "must be Enabled with the scheme Form"}},
	{name: "form that goes nowhere", patch: withForm(`page: /login`),
		want: []string{"spec.load.authentication.form.path", "Required value"}},
	{name: "form that goes elsewhere", patch: withForm(`path: "http://www.example.org/login"`),
		want: []string{"spec.load.authentication.form.path", "must begin with a slash"}},
	{name: "page without a slash", patch: withForm(`path: /login, page: login`),
		want: []string{"spec.load.authentication.form.page", "must begin with a slash"}},
	{name: "location of another server", patch: withForm(`path: /login, expect: {location: "https://www.example.org/"}`),
		want: []string{"spec.load.authentication.form.expect.location", "must begin with a slash"}},
	{name: "login by an interim status", patch: withForm(`path: /login, expect: {statuses: [199]}`),
		want: []string{"spec.load.authentication.form.expect.statuses[0]", "greater than or equal to 200"}},
	{name: "field without a value", patch: withForm(`path: /login, fields: [{name: a}]`),
		want: []string{"spec.load.authentication.form.fields[0].value", "Required value"}},
	{name: "the same field twice", patch: withForm(`path: /login, fields: [{name: a, value: b}, {name: a, value: c}]`),
		want: []string{"spec.load.authentication.form.fields[1]", "Duplicate value"}},
	{name: "unknown scheme", patch: `spec: {load: {authentication: {scheme: NTLM, secretName: a}}}`,
		want: []string{"spec.load.authentication.scheme", `"Basic", "Bearer", "Digest", "Form"`}},
	{name: "credentials from nowhere", patch: `spec: {load: {authentication: {scheme: Basic}}}`,
		want: []string{"spec.load.authentication.secretName", "Required value"}},
	{name: "credentials without a scheme", patch: `spec: {load: {authentication: {secretName: a}}}`,
		want: []string{"spec.load.authentication.scheme", "Required value"}},
	{name: "Secret that can't be", patch: `spec: {load: {authentication: {scheme: Basic, secretName: A_b}}}`,
		want: []string{"spec.load.authentication.secretName", "must be a name of lowercase letters"}},
	{name: "nobody to ask with credentials", patch: `spec: {target: {readiness: {path: null}}, load: {authentication: {scheme: Digest, secretName: a}}}`,
		want: []string{"spec.target.readiness.path", "probes don't log in"}},
}

// headerRefusals are the headers that a client makes itself.
var headerRefusals = func() (all []refusal) {
	for _, name := range []string{
		"Host", "authorization", "Proxy-Authorization", "CONNECTION", "Keep-Alive", "Content-Length", "Transfer-Encoding", "TE", "Trailer",
		"Upgrade", "Expect",
	} {
		all = append(all, refusal{name: "the header " + name, patch: withRequest(`headers: [{name: ` + name + `, value: a}]`),
			want: []string{"spec.load.requests[0].headers[0].name", "the client sets"}})
	}
	return all
}()

func TestBadRequestsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range slices.Concat(requestRefusals, headerRefusals) {
		t.Run(r.name, func(t *testing.T) { r.check(t, base, namespace) })
	}
}
