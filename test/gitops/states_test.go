// Package gitops tests what Argo CD, Flux and kstatus make of BenchmarkRuns and Benchmarks in each of their states.
// Each is asked with the interpreter or library that it uses itself.
package gitops

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// health is the state of an object in the terms of Argo CD. That of kstatus follows from it.
type health string

const (
	healthy     health = "Healthy"
	degraded    health = "Degraded"
	progressing health = "Progressing"
	suspended   health = "Suspended"
)

// state is an object in one state, and what tools must make of it.
type state struct {
	object *unstructured.Unstructured
	health health
	// verdict is the value of status.verdict. finished reports whether the condition Finished is True.
	verdict  string
	finished bool
}

// runStates are the reasons of Succeeded of an active run, with the health of the run.
var runStates = map[string]health{
	v1alpha1.ReasonQueued: progressing, v1alpha1.ReasonSuspended: suspended, v1alpha1.ReasonStarting: progressing,
	v1alpha1.ReasonWarmingUp: progressing, v1alpha1.ReasonSettingUp: progressing, v1alpha1.ReasonMeasuring: progressing,
	v1alpha1.ReasonTearingDown: progressing, v1alpha1.ReasonCollecting: progressing,
}

// roundStates are the same of a Benchmark during a round.
var roundStates = map[string]health{
	v1alpha1.ReasonSuspended: suspended, v1alpha1.ReasonRunning: progressing, v1alpha1.ReasonPaused: progressing,
}

// others are the reasons that aren't those of a failure, and that only accompany the ones above.
var others = []string{
	v1alpha1.ReasonCompleted, v1alpha1.ReasonAdmitted, v1alpha1.ReasonReady, v1alpha1.ReasonNotReady, v1alpha1.ReasonActive, v1alpha1.ReasonFinished,
	v1alpha1.ReasonThresholdsMet, v1alpha1.ReasonThresholdsMissed, v1alpha1.ReasonNotValid, v1alpha1.ReasonValid, v1alpha1.ReasonAccepted,
	v1alpha1.ReasonWarnings, v1alpha1.ReasonNoResult, v1alpha1.ReasonPassed, v1alpha1.ReasonFailed, v1alpha1.ReasonInconclusive,
}

// constants returns the string constants of a file of the API whose names begin with a prefix, by name.
func constants(t *testing.T, file, prefix string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../api/v1alpha1/"+file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		for i, name := range spec.Names {
			if strings.HasPrefix(name.Name, prefix) && i < len(spec.Values) {
				if literal, is := spec.Values[i].(*ast.BasicLit); is {
					found[name.Name], _ = strconv.Unquote(literal.Value)
				}
			}
		}
		return true
	})
	return found
}

// failures returns the reasons with which runs and rounds end without a result: those of the API that aren't known
// to be others. A new reason is among them.
func failures(t *testing.T) []string {
	t.Helper()
	reasons := constants(t, "conditions.go", "Reason")
	for name, reason := range reasons {
		_, active := runStates[reason]
		_, round := roundStates[reason]
		if active || round || slices.Contains(others, reason) {
			delete(reasons, name)
		}
	}
	if len(reasons) < 25 {
		t.Fatalf("only %d reasons of failures found", len(reasons))
	}
	return slices.Sorted(maps.Values(reasons))
}

func condition(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "Message of " + reason + ".", ObservedGeneration: 3, LastTransitionTime: metav1.Unix(1700000000, 0)}
}

// conditions returns those that every state of both kinds has.
func conditions(finished, succeeded, reconciling, stalled metav1.ConditionStatus, reason, why string) []metav1.Condition {
	return []metav1.Condition{
		condition(v1alpha1.ConditionFinished, finished, reason), condition(v1alpha1.ConditionSucceeded, succeeded, reason),
		condition(v1alpha1.ConditionReconciling, reconciling, reason), condition(v1alpha1.ConditionStalled, stalled, why),
	}
}

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

// runs returns a run in every state.
func runs(t *testing.T) map[string]state {
	t.Helper()
	states := map[string]state{}
	add := func(name string, h health, verdict v1alpha1.Verdict, finished bool, list ...metav1.Condition) {
		run := v1alpha1.BenchmarkRun{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun"}}
		run.Name, run.Namespace, run.Generation = "shop", "default", 3
		run.Spec.Target.Image = "tomcat:10.1"
		run.Spec.Target.Server.Tomcat = &v1alpha1.TomcatServer{}
		generation := int64(3)
		run.Status = v1alpha1.BenchmarkRunStatus{ObservedGeneration: &generation, Verdict: verdict, Conditions: list}
		states[name] = state{toUnstructured(t, &run), h, string(verdict), finished}
	}
	for reason, h := range runStates {
		add(reason, h, "", false, conditions(no, unknown, yes, no, reason, v1alpha1.ReasonActive)...)
	}
	for _, reason := range failures(t) {
		add(reason, degraded, v1alpha1.VerdictError, true, append(conditions(yes, no, no, yes, reason, reason), condition(v1alpha1.ConditionValid, no, v1alpha1.ReasonNoResult))...)
	}
	ended := map[v1alpha1.Verdict]string{v1alpha1.VerdictFailed: v1alpha1.ReasonThresholdsMissed, v1alpha1.VerdictInvalid: "ClientSaturated", v1alpha1.VerdictError: v1alpha1.ReasonClientFailed}
	for _, verdict := range constants(t, "status_types.go", "Verdict") {
		if verdict == string(v1alpha1.VerdictPassed) {
			add("Passed", healthy, v1alpha1.VerdictPassed, true, conditions(yes, yes, no, no, v1alpha1.ReasonCompleted, v1alpha1.ReasonFinished)...)
			continue
		}
		reason, known := ended[v1alpha1.Verdict(verdict)]
		if !known {
			t.Errorf("the verdict %s is new: say what tools must make of it", verdict)
		}
		add("verdict "+verdict, degraded, v1alpha1.Verdict(verdict), true, conditions(yes, yes, no, yes, v1alpha1.ReasonCompleted, reason)...)
	}
	unseen(t, states)
	return states
}

// benchmarks returns a Benchmark in every state.
func benchmarks(t *testing.T) map[string]state {
	t.Helper()
	states := map[string]state{}
	add := func(name string, h health, verdict v1alpha1.BenchmarkVerdict, finished bool, list ...metav1.Condition) {
		b := v1alpha1.Benchmark{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Benchmark"}}
		b.Name, b.Namespace, b.Generation = "shop", "default", 3
		b.Spec.Template.Spec.Target.Image = "tomcat:10.1"
		generation := int64(3)
		b.Status = v1alpha1.BenchmarkStatus{ObservedGeneration: &generation, Verdict: verdict, Conditions: list}
		states[name] = state{toUnstructured(t, &b), h, string(verdict), finished}
	}
	for reason, h := range roundStates {
		add("first round "+reason, h, "", false, conditions(no, unknown, yes, no, reason, v1alpha1.ReasonActive)...)
		add("later round "+reason, h, v1alpha1.BenchmarkFailed, false, conditions(no, unknown, yes, no, reason, v1alpha1.ReasonActive)...)
	}
	add("idle", suspended, "", false, conditions(no, unknown, no, no, v1alpha1.ReasonSuspended, v1alpha1.ReasonSuspended)...)
	for _, verdict := range constants(t, "benchmark_status_types.go", "Benchmark") {
		v := v1alpha1.BenchmarkVerdict(verdict)
		if v == v1alpha1.BenchmarkPassed {
			add("Passed", healthy, v, true, conditions(yes, yes, no, no, v1alpha1.ReasonPassed, v1alpha1.ReasonPassed)...)
			add("scheduled after Passed", healthy, v, false, conditions(no, unknown, no, no, v1alpha1.ReasonRunning, v1alpha1.ReasonPassed)...)
			continue
		}
		if v == v1alpha1.BenchmarkMeasured {
			add("Measured", healthy, v, true, conditions(yes, yes, no, no, string(v), string(v))...)
			continue
		}
		if !slices.Contains([]v1alpha1.BenchmarkVerdict{v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkInconclusive, v1alpha1.BenchmarkError}, v) {
			t.Errorf("the verdict %s is new: say what tools must make of it", verdict)
		}
		add("verdict "+verdict, degraded, v, true, conditions(yes, no, no, yes, verdict, verdict)...)
		add("scheduled after "+verdict, degraded, v, false, conditions(no, unknown, no, yes, v1alpha1.ReasonRunning, verdict)...)
	}
	for _, reason := range failures(t) {
		add(reason, degraded, v1alpha1.BenchmarkError, true, conditions(yes, no, no, yes, reason, reason)...)
	}
	unseen(t, states)
	return states
}

// unseen adds objects whose spec the operator hasn't seen: new ones, and those of every state with a newer spec.
func unseen(t *testing.T, states map[string]state) {
	t.Helper()
	for name, s := range maps.Clone(states) {
		newer := s.object.DeepCopy()
		newer.SetGeneration(4)
		states[name+", changed"] = state{newer, progressing, s.verdict, s.finished}
	}
	created := states["Passed"].object.DeepCopy()
	created.Object["status"] = map[string]any{"observedGeneration": int64(-1)}
	states["created"] = state{created, progressing, "", false}
}

func toUnstructured(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}
