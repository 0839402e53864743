package validity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestServerLogErrors(t *testing.T) {
	const remedy = " A server that fails does something else than what is to be measured. Resolve what it logs; retain the pods to read all of it."
	for name, tc := range map[string]struct {
		errors   []result.ServerErrors
		backends []result.BackendEnvironment
		want     string // empty when nothing is to be found
	}{
		"none":         {nil, nil, ""},
		"one":          {[]result.ServerErrors{{Container: "server", Lines: 1, First: `SEVERE: "a"`}}, nil, `The server logged an error under load: "SEVERE: \"a\"".`},
		"of a backend": {[]result.ServerErrors{{Container: "app", Lines: 1000, First: "x"}}, []result.BackendEnvironment{{Name: "app"}}, `The server of container app logged 1000 errors under load. The first: "x".`},
		"of two": {
			[]result.ServerErrors{{Container: "server", Lines: 1, First: "y"}, {Container: "app", Lines: 2, First: "x"}}, []result.BackendEnvironment{{Name: "app"}},
			`The server of container server logged an error under load: "y". The server of container app logged 2 errors under load. The first: "x".`,
		},
	} {
		r := sound()
		r.ServerErrors, r.Environment.Backends = tc.errors, tc.backends
		want := result.Finding{}
		if tc.want != "" {
			want = result.Finding{Reason: "ServerLogErrors", Severity: result.Warns, Message: tc.want + remedy}
		}
		if diff := cmp.Diff(want, find(r, "ServerLogErrors", validity.Declared{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
