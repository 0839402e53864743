package script

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
)

// summaryOf runs a script on n clients and returns what handleSummary() returned, by the name of the file.
func summaryOf(t *testing.T, script string, n int) (*result.ScriptSummary, map[string]string) {
	t.Helper()
	server := testserver.New(t, ok)
	sessions, errs := run(t, directory(t, map[string]string{"script.js": get + script, "text.txt": "from a file"}), plans(n), server.Address())
	for i, err := range errs {
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
	}
	summaries := of[*result.ScriptSummary](sessions[0])
	if len(summaries) != 1 {
		t.Fatalf("%d summaries", len(summaries))
	}
	if err := summaries[0].Check(); err != nil { // as the manager checks it
		t.Error(err)
	}
	files := map[string]string{}
	for _, f := range summaries[0].Files {
		files[f.Name] = string(f.Content)
	}
	return summaries[0], files
}

// TestHandleSummary checks that handleSummary() runs once, with the merged metrics of all clients in k6's form.
func TestHandleSummary(t *testing.T) {
	summary, files := summaryOf(t, `
import { check, group } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const bought = new Counter('bought'), price = new Trend('price', true);
const text = open('./text.txt');
export const options = {
  scenarios: { shop: { executor: 'shared-iterations', vus: 4, iterations: 30 } },
  thresholds: { bought: ['count==60', 'count<1'] }, summaryTrendStats: ['avg', 'p(99)', 'count'], summaryTimeUnit: 's',
};
export function setup() { return { shop: 7 } }
export default function () {
  bought.add(2);
  price.add(exec.scenario.iterationInTest);
  http.get(target + '/shop');
  group('cart', () => check(1, { 'is odd': () => exec.scenario.iterationInTest % 2 === 1 }));
}
export function handleSummary(data) {
  return { 'out/summary.json': JSON.stringify(data), stdout: text, bytes: new Uint8Array([1, 255]).buffer };
}`, 3)
	if summary.Error != "" || len(files) != 3 || files["stdout"] != "from a file" || files["bytes"] != "\x01\xff" {
		t.Fatalf("%+v, files %q", summary, files)
	}
	var data struct {
		Metrics map[string]struct {
			Type, Contains string
			Values         map[string]float64
			Thresholds     map[string]struct{ OK bool }
		}
		RootGroup struct {
			Groups []struct {
				Name, Path, ID string
				Checks         []struct {
					Name, Path    string
					Passes, Fails int
				}
			}
		} `json:"root_group"`
		State     struct{ TestRunDurationMs float64 }
		Options   struct{ SummaryTimeUnit string }
		SetupData struct{ Shop int } `json:"setup_data"`
	}
	if err := json.Unmarshal([]byte(files["out/summary.json"]), &data); err != nil {
		t.Fatal(err)
	}
	bought, price := data.Metrics["bought"], data.Metrics["price"]
	if bought.Type != "counter" || bought.Values["count"] != 60 || bought.Values["rate"] <= 0 || !bought.Thresholds["count==60"].OK || bought.Thresholds["count<1"].OK {
		t.Errorf("bought %+v", bought)
	}
	if v := price.Values; price.Type != "trend" || price.Contains != "time" || v["avg"] != 14.5 || v["count"] != 30 || math.Abs(v["p(99)"]-28.71) > 0.03 || len(v) != 3 {
		t.Errorf("price %+v", price)
	}
	if n := data.Metrics["http_reqs"].Values["count"]; n != 30 {
		t.Errorf("%v requests", n)
	}
	if g := data.RootGroup.Groups; len(g) != 1 || g[0].Path != "::cart" || len(g[0].Checks) != 1 || g[0].Checks[0].Path != "::cart::is odd" || g[0].Checks[0].Passes != 15 || g[0].Checks[0].Fails != 15 {
		t.Errorf("groups %+v", data.RootGroup)
	}
	if data.State.TestRunDurationMs <= 0 || data.Options.SummaryTimeUnit != "s" || data.SetupData.Shop != 7 || data.Metrics["vus_max"].Values["value"] != 4 {
		t.Errorf("%+v", data)
	}
}

// TestHandleSummaryThatFails checks that no handleSummary() harms a result, and that what it returned is bounded.
func TestHandleSummaryThatFails(t *testing.T) {
	const load = "export default function () { http.get(target) }\n"
	for name, tc := range map[string]struct {
		script, err string
		files       map[string]string
		omitted     int64
	}{
		"none":               {script: "// no handleSummary\n"},
		"throws":             {script: "export function handleSummary() { throw new Error('no paper') }", err: "no paper"},
		"a number":           {script: "export function handleSummary() { return 5 }", err: "map with string keys"},
		"a number as a file": {script: "export function handleSummary() { return { a: 5 } }", err: "expected a string"},
		"nothing":            {script: "export function handleSummary() {}"},
		"async":              {script: "export async function handleSummary() { return { a: 'b' } }", files: map[string]string{"a": "b"}},
		"escapes": {
			script: "export function handleSummary() { return { '/etc/passwd': '1', '../../x': '2', 'a\\\\b<i>': '3', '.': '4', '-rf': '5', 'etc/passwd': '6' } }",
			files:  map[string]string{"etc/passwd": "1", "x": "2", "a/b_i_": "3", "unnamed": "4", "rf": "5", "etc_passwd-2": "6"},
		},
		"too large": {script: "export function handleSummary() { return { large: 'x'.repeat(300000), huge: 'x'.repeat(5000000), small: 'y' } }", files: map[string]string{"large": "", "huge": "", "small": "y"}},
		"too many":  {script: "export function handleSummary() { const all = {}; for (let i = 100; i < 150; i++) { all['f' + i] = '' } return all }", omitted: 18},
	} {
		t.Run(name, func(t *testing.T) {
			summary, files := summaryOf(t, load+tc.script, 1)
			if tc.err == "" != (summary.Error == "") || !strings.Contains(summary.Error, tc.err) || summary.Omitted != tc.omitted || summary.None != (name == "none") {
				t.Errorf("%+v", summary)
			}
			if tc.files != nil && fmt.Sprint(files) != fmt.Sprint(tc.files) {
				t.Errorf("files %q, want %q", files, tc.files)
			}
			for _, f := range summary.Files {
				if (f.Name == "large" || f.Name == "huge") && (f.Omitted == "" || f.Size < 300_000) {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// TestSummaryHasNoSecrets checks that values of Secrets aren't in the files.
func TestSummaryHasNoSecrets(t *testing.T) {
	t.Setenv("TOKEN", "s3cr3t-value")
	server := testserver.New(t, ok)
	p := plans(1)
	p[0].Script.Secrets = []string{"TOKEN"}
	sessions, errs := run(t, directory(t, map[string]string{"script.js": get + `
export default function () {}
export function handleSummary() { return { [__ENV.TOKEN]: 'it is ' + __ENV.TOKEN } }`}), p, server.Address())
	summaries := of[*result.ScriptSummary](sessions[0])
	if errs[0] != nil || len(summaries) != 1 || len(summaries[0].Files) != 1 || string(summaries[0].Files[0].Content) != "it is ***" || summaries[0].Files[0].Name != "___" {
		t.Errorf("%v, %+v", errs[0], summaries)
	}
}
