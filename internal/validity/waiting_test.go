package validity

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

func TestWaitingVariantBusy(t *testing.T) {
	const s = 1_000_000
	loaded := &result.Server{End: result.ServerUsage{At: 10 * s, UserCPU: 4 * s, SystemCPU: 4 * s}} // 0.8 CPUs
	idle := &result.Server{End: result.ServerUsage{At: 10 * s, UserCPU: s / 20}}
	for name, test := range map[string]struct {
		server, backend *result.Server
		waiting         *result.WaitingUsage
		want            string // empty for no finding
	}{
		"does not alternate": {loaded, nil, nil, ""},
		"idle":               {loaded, nil, &result.WaitingUsage{Microseconds: 5 * s, CPU: 0}, ""},
		"5%":                 {loaded, nil, &result.WaitingUsage{Microseconds: 5 * s, CPU: 200_000}, ""},
		"more":               {loaded, nil, &result.WaitingUsage{Microseconds: 5 * s, CPU: 240_000}, "The target used 0.05 CPUs while other variants were loaded, 6% of the 0.80"},
		"of two containers":  {loaded, loaded, &result.WaitingUsage{Microseconds: 5 * s, CPU: 240_000}, ""},
		"next to nothing":    {idle, nil, &result.WaitingUsage{Microseconds: 5 * s, CPU: 40_000}, ""},
		"nothing known":      {nil, nil, &result.WaitingUsage{Microseconds: 5 * s, CPU: s}, ""},
	} {
		r := &result.Result{Server: test.server, Waiting: test.waiting}
		if test.backend != nil {
			r.Environment.Backends = []result.BackendEnvironment{{Name: "app"}}
			r.Backends = []result.Backend{{Name: "app", Server: *test.backend}}
		}
		f := waitingVariantBusy(r)
		if (f != nil) != (test.want != "") || f != nil && (!strings.HasPrefix(f.Message, test.want) || f.Severity != result.Warns || f.Reason != ReasonWaitingVariantBusy) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
