package script

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/load/testserver"
	reports "github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// execution requests paths with what k6/execution says.
const execution = get + `
export const options = { setupTimeout: '50s', scenarios: { shop: { executor: 'per-vu-iterations', vus: 7, iterations: 3 } } };

function report(...values) { http.get(target + '/' + values.join('/')) }
function known(read) { try { return read() } catch (e) { return 'none' } }
function outside(name) {
  report(name, exec.test.options.setupTimeout, Object.keys(exec.test.options.scenarios).join(), exec.test.options.executionSegment,
    exec.vu.idInTest, known(() => exec.scenario.name), known(() => exec.instance.vusInitialized));
}

export function setup() { outside('setup') }
export default function () {
  if (exec.test.options.scenarios.shop.vus !== 7 || exec.instance.vusInitialized > 3) { throw new Error('other options') }
  report('user', exec.vu.idInTest, exec.vu.iterationInScenario, exec.scenario.name, exec.scenario.iterationInTest);
}
export function teardown() { outside('teardown') }
`

// TestExecution checks what a script learns from k6/execution on three clients, as docs/scripts.md says.
func TestExecution(t *testing.T) {
	server := testserver.New(t, ok)
	sessions, errs := run(t, directory(t, map[string]string{"script.js": execution}), plans(3), server.Address())
	for i, err := range errs {
		if err != nil {
			t.Fatalf("client %d: %v, events %+v", i, err, sessions[i].Events())
		}
	}
	users, iterations := map[string]int64{}, map[string]int64{}
	for path, n := range server.Seen().Paths {
		switch parts := strings.Split(strings.TrimPrefix(path, "/"), "/"); parts[0] {
		case "setup", "teardown":
			if n != 1 || !strings.HasPrefix(path, "/"+parts[0]+"/50s/shop/0") || !strings.HasSuffix(path, "/0/none/none") {
				t.Errorf("%s was requested %d times", path, n)
			}
		case "user":
			users[parts[1]+" "+parts[2]] += n
			iterations[parts[4]] += n
			if parts[3] != "shop" {
				t.Errorf("unexpected path %s", path)
			}
		}
	}
	for id := 1; id <= 7; id++ {
		for i := range 3 {
			if key := fmt.Sprintf("%d %d", id, i); users[key] != 1 {
				t.Errorf("virtual user and iteration %s occurred %d times", key, users[key])
			}
		}
	}
	if len(users) != 21 || len(iterations) != 21 {
		t.Errorf("virtual users with their iterations %v, iterations of the scenario %v", users, iterations)
	}
}

// TestSetupMarksTestFailed checks that exec.test.fail() in setup() doesn't discard the measurement.
func TestSetupMarksTestFailed(t *testing.T) {
	server := testserver.New(t, ok)
	got := totalsOf(t, get+`export function setup() { exec.test.fail('not good') }; export default function () { http.get(target) }`, server.Address())
	if got.Requests != 1 || !got.Script.MarkedFailed {
		t.Errorf("%+v, %+v", got.Counts, got.Script)
	}
}

// TestInterruptedIterations counts the iterations that k6 interrupts at the end, one of each virtual user.
func TestInterruptedIterations(t *testing.T) {
	server := testserver.New(t, ok)
	got := totalsOf(t, "import { sleep } from 'k6';"+get+`export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '2s', gracefulStop: '0s' } } };
export default function () { http.get(target); sleep(1000) }`, server.Address())
	r := &result.Result{}
	r.AddClients([]result.Client{{Totals: got}})
	r.AddScript()
	if s := r.Script; s.Iterations != 0 || s.InterruptedIterations != 3 {
		t.Errorf("%d iterations, %d interrupted", s.Iterations, s.InterruptedIterations)
	}
	if facts := fmt.Sprint(reports.ScriptFacts(r.Script)); !strings.Contains(facts, "Interrupted iterations 3: k6 ended them") {
		t.Errorf("report %s", facts)
	}
}
