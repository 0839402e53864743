package ui

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/report"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/round"
)

// maxMatrix bounds the blocks of a matrix.
const maxMatrix = 100

// benchmarkRow is a Benchmark in the list.
type benchmarkRow struct {
	Namespace, Name, Path string
	Verdict, State, Says  string
	Why                   string // as of a run; empty
	Progress              string
	// Answer says what became of the worst claim, with its interval, and Tone how that looks. Date is the end of the last round.
	Answer, Tone, Date string
	Rounds             []roundMark // the last ones, the newest last
	created            time.Time
}

func benchmarkRowOf(b *v1alpha1.Benchmark) *benchmarkRow {
	state := lifecycle.Succeeded(b)
	r := &benchmarkRow{
		Namespace: b.Namespace, Name: b.Name, Path: pathOf("benchmarks", b.Namespace, b.Name), Verdict: printable.Text(string(b.Status.Verdict)),
		State: printable.Text(cmp.Or(state.Reason, "New")), Says: printable.Text(state.Message), Progress: none, Date: none,
		created: b.CreationTimestamp.Time,
	}
	if r.Verdict != "" {
		r.Says = ""
	}
	if s := b.Status.Round; s != nil {
		r.Progress = progressOf(b, time.Time{})
		if answers := round.FromStatus(b).Sentences(); len(answers) > 0 {
			r.Tone, r.Answer = string(answers[0].Tone), printable.Text(answers[0].Lead+": "+answers[0].Text)
		}
	}
	r.Rounds = roundsOf(b)
	slices.Reverse(r.Rounds)
	if n := len(r.Rounds); n > 0 {
		r.Date = r.Rounds[n-1].Date
	}
	return r
}

// progressOf returns how far a round has come: "Block 7 of 10 to 20 · 43 of 40 to 80 runs, 2 invalid".
func progressOf(b *v1alpha1.Benchmark, now time.Time) string {
	s := b.Status.Round
	least, most := blocks.Bounds(&b.Spec)
	of := blocks.Range(least, most)
	done, runs := int(ptr.Deref(s.CompletedBlocks, 0)), fmt.Sprint(ptr.Deref(s.FinishedRuns, 0))
	if cells := ptr.Deref(s.Cells, 0); b.Spec.Capacity == nil && cells > 0 { // how many trials a search takes isn't known before
		runs += " of " + blocks.Range(least*int(cells), most*int(cells))
	}
	text := fmt.Sprintf("%d of %s blocks · %s runs", done, of, runs)
	if lifecycle.IsActive(b) && done < most {
		text = fmt.Sprintf("Block %d of %s · %s runs", done+1, of, runs)
	}
	if n := ptr.Deref(s.InvalidRuns, 0); n > 0 {
		text += fmt.Sprintf(", %d invalid", n)
	}
	if end := s.ExpectedCompletionTime; end != nil && lifecycle.IsActive(b) && !now.IsZero() && end.After(now) {
		text += " · about " + span(end.Sub(now)) + " left"
	}
	return text
}

type benchmarkListPage struct {
	page
	Rows []*benchmarkRow
}

func (s *App) benchmarkList(w http.ResponseWriter, r *http.Request) {
	ready(r.Context(), s.benchmarks)
	p := benchmarkListPage{page: s.page("Benchmarks", "benchmarks")}
	p.Notice = s.benchmarks.notice(s.now())
	for _, b := range objects[*v1alpha1.Benchmark](s.benchmarks) {
		p.Rows = append(p.Rows, benchmarkRowOf(b))
	}
	slices.SortFunc(p.Rows, func(a, b *benchmarkRow) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	render(w, http.StatusOK, "benchmarks", p)
}

// matrix is the runs of a round: cells down, blocks across.
type matrix struct {
	Progress, Says string
	Blocks         []int // numbers from 1
	Cells          []matrixRow
	// Interim has the metrics of a round under way; nil if there are none, or if a report has them.
	Interim *interim
	Trials  []place
}

type matrixRow struct {
	Name   string
	Places []place
}

// place is where a run is or will be. Class is planned, running, valid, invalid or failed.
type place struct{ Class, Mark, Text, Path string }

// matrixOf returns the matrix of the last round. The runs are those of any Benchmark.
func matrixOf(b *v1alpha1.Benchmark, runs []*v1alpha1.BenchmarkRun, now time.Time) *matrix {
	s := b.Status.Round
	if s == nil {
		return nil
	}
	m := &matrix{Progress: progressOf(b, now), Says: printable.Text(lifecycle.Succeeded(b).Message)}
	cells, err := cells.Of(&b.Spec)
	if err != nil {
		m.Says = sentence(err)
		return m
	}
	least, _ := blocks.Bounds(&b.Spec)
	blocks := least
	newest, replacements := map[benchmark.RunKey]*v1alpha1.BenchmarkRun{}, map[benchmark.RunKey]int{}
	var trials []benchmark.RunKey
	for _, run := range runs {
		k, ok := benchmark.ParseRunName(b.Name, run.Name)
		if !ok || run.Namespace != b.Namespace || run.Labels[benchmark.LabelBenchmark] != b.Name || k.Round != s.Number || k.Cell >= len(cells) {
			continue
		}
		if k.Trial {
			newest[k] = run
			trials = append(trials, k)
			continue
		}
		blocks = max(blocks, k.Number+1)
		at := k
		at.Replacement = 0
		if newest[at] == nil || replacements[at] < k.Replacement {
			newest[at], replacements[at] = run, k.Replacement
		}
	}
	blocks = min(blocks, maxMatrix)
	for i := range blocks {
		m.Blocks = append(m.Blocks, i+1)
	}
	var names []string
	all := make([][]*v1alpha1.BenchmarkRun, len(cells))
	for i := range cells {
		row := matrixRow{Name: printable.Text(cells[i].Name)}
		for block := range blocks {
			run := newest[benchmark.RunKey{Round: s.Number, Cell: i, Number: block}]
			row.Places, all[i] = append(row.Places, placeOf(run)), append(all[i], run)
		}
		m.Cells, names = append(m.Cells, row), append(names, row.Name)
	}
	if lifecycle.IsActive(b) {
		m.Interim = interimOf(&b.Spec, names, all)
	}
	slices.SortFunc(trials, func(x, y benchmark.RunKey) int {
		return cmp.Or(cmp.Compare(x.Cell, y.Cell), cmp.Compare(x.Number, y.Number), cmp.Compare(x.Replacement, y.Replacement))
	})
	for _, k := range trials {
		p := placeOf(newest[k])
		p.Text = fmt.Sprintf("%s, trial %d, %s: %s", printable.Text(cells[k.Cell].Name), k.Number+1, loadOf(&newest[k].Spec), p.Text)
		m.Trials = append(m.Trials, p)
	}
	return m
}

func placeOf(run *v1alpha1.BenchmarkRun) place {
	if run == nil {
		return place{Class: "planned", Mark: "▢", Text: "planned"}
	}
	p := place{Class: "running", Mark: "▣", Text: printable.Text(condition(run.Status.Conditions, v1alpha1.ConditionSucceeded).Reason), Path: pathOf("runs", run.Namespace, run.Name)}
	if !finished(run) {
		return p
	}
	switch run.Status.Verdict {
	case v1alpha1.VerdictError:
		p.Class, p.Mark = "failed", "✕"
	case v1alpha1.VerdictInvalid:
		p.Class, p.Mark = "invalid", "▨"
	default:
		p.Class, p.Mark = "valid", "■"
	}
	p.Text = string(run.Status.Verdict)
	if r := run.Status.Result; r != nil {
		p.Text += ", " + rateOf(r.RequestsPerSecond) + " requests/s"
	}
	return p
}

// benchmarkPage is the page of a Benchmark.
type benchmarkPage struct {
	page
	Row    *benchmarkRow
	Head   *head
	Matrix *matrix
	// Text is why no round has a report.
	Text, Spec string
	Actions    *actions
}

func headOfBenchmark(b *v1alpha1.Benchmark) *head {
	state := lifecycle.Succeeded(b)
	h := &head{Class: "plain", Word: printable.Text(cmp.Or(string(b.Status.Verdict), state.Reason, "New")), Sentence: printable.Text(state.Message)}
	if lifecycle.IsActive(b) {
		h.Word = printable.Text(cmp.Or(state.Reason, "Running"))
		return h
	}
	switch b.Status.Verdict {
	case v1alpha1.BenchmarkPassed:
		h.Class = "good"
	case v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkError:
		h.Class = "bad"
	case v1alpha1.BenchmarkInconclusive:
		h.Class = "unsure"
	}
	return h
}

func (s *App) benchmark(w http.ResponseWriter, r *http.Request) {
	b, ok := find(s, w, r, &v1alpha1.Benchmark{}, s.benchmarks, s.runs)
	if !ok {
		return
	}
	p := benchmarkPage{page: s.page("Benchmark "+b.Name, "benchmarks"), Row: benchmarkRowOf(b), Head: headOfBenchmark(b)}
	p.Notice = s.benchmarks.notice(s.now())
	number := roundOf(r)
	reference, err := cluster.CompletedRound(b, number)
	if err == nil && (number > 0 || !lifecycle.IsActive(b)) && r.URL.Query().Get("view") != "runs" {
		d, err := report.OfRound(r.Context(), s.in(b.Namespace), b, reference.Number)
		if err == nil {
			document(w, p.page, s.actionsOfBenchmark(r.Context(), b, reference.Number), d)
			return
		}
		p.Text = sentence(err)
	} else if err != nil {
		p.Text = sentence(err)
	}
	if number == 0 && lifecycle.IsActive(b) {
		p.Text = "The report follows when the round has ended."
	}
	p.Events, p.Actions, p.Spec = p.Row.Path+"/events", s.actionsOfBenchmark(r.Context(), b, 0), yamlText(b.Spec)
	p.Matrix = matrixOf(b, objects[*v1alpha1.BenchmarkRun](s.runs), s.now())
	render(w, http.StatusOK, "benchmark", p)
}

// benchmarkEvents follows the rounds of a Benchmark. A round that ends makes the browser load the page with its report.
func (s *App) benchmarkEvents(w http.ResponseWriter, r *http.Request) {
	b, ok := find(s, w, r, &v1alpha1.Benchmark{}, s.benchmarks, s.runs)
	if !ok {
		return
	}
	completed := func(b *v1alpha1.Benchmark) int64 {
		reference, err := cluster.CompletedRound(b, 0)
		if err != nil {
			return 0
		}
		return reference.Number
	}
	before, uid := completed(b), b.UID
	s.watch(w, r, s.runs, s.benchmarks, func() *event {
		current, ok := object[*v1alpha1.Benchmark](s.benchmarks, b.Namespace, b.Name)
		notice := s.benchmarks.notice(s.now())
		if !ok && !s.benchmarks.contact().synced {
			return &event{Parts: partsOf(map[string]any{"notice": notice})}
		}
		if !ok || current.UID != uid || completed(current) != before {
			return &event{Reload: true}
		}
		runs := objects[*v1alpha1.BenchmarkRun](s.runs)
		return &event{Parts: partsOf(map[string]any{"notice": notice, "head": headOfBenchmark(current), "matrix": matrixOf(current, runs, s.now())})}
	})
}

// roundOf returns the round that a URL is about, 0 for the last completed one.
func roundOf(r *http.Request) int64 {
	number, _ := strconv.ParseInt(r.URL.Query().Get("round"), 10, 64) // 0 for what isn't a number
	return max(0, number)
}

// roundReport answers with the report of a round as a file.
func (s *App) roundReport(w http.ResponseWriter, r *http.Request) {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	s.file(w, r, name, func(format string, out io.Writer) error {
		return report.WriteRound(r.Context(), s.in(namespace), name, roundOf(r), format, out)
	})
}
