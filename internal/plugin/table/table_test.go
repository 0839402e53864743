package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

// newRun returns a run of a Tomcat with TLS that the operator hasn't processed. It
// was created the given number of seconds after the run with seconds 0.
func newRun(name string, seconds int) *v1alpha1.BenchmarkRun {
	return &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: "uid", Labels: map[string]string{"series": "r1"},
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC)),
		},
		Spec: v1alpha1.BenchmarkRunSpec{
			Target: v1alpha1.Target{
				Image:   "tomcat:9.0",
				Server:  v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{}},
				TLS:     &v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv12, v1alpha1.TLSv13}, Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}},
				Content: []v1alpha1.ContentFile{{Path: "/a", SizeBytes: 31819}},
			},
			Load: v1alpha1.Load{
				Requests: []v1alpha1.Request{{Path: "/a"}},
				Client:   v1alpha1.LoadClient{KeepAlive: v1alpha1.Disabled},
				Closed:   &v1alpha1.ClosedLoad{Connections: 25, RequestCount: ptr.To(int64(50_000))},
			},
		},
	}
}

// ended adds the conditions of a finished run.
func ended(run *v1alpha1.BenchmarkRun, status metav1.ConditionStatus, reason, message string) *v1alpha1.BenchmarkRun {
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message},
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason},
	}
	return run
}

// measured returns the run, completed, and the ConfigMap with its result. uid is
// the UID in the result.
func measured(t *testing.T, run *v1alpha1.BenchmarkRun, uid string) []client.Object {
	t.Helper()
	ended(run, metav1.ConditionTrue, v1alpha1.ReasonCompleted, "done")
	r := &result.Result{
		Run: result.Run{
			Namespace: run.Namespace, Name: run.Name, UID: uid, Server: "Tomcat NIO", Load: "closed", Connections: 25,
			Requests: []result.Request{{Path: "/a", Weight: 1, Length: 31819}},
		},
		Environment: result.Environment{TLS: &result.Handshake{Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES256-GCM-SHA384"}},
	}
	c := result.Client{Totals: result.Totals{StartedAt: 1_000_000, EndedAt: 3_000_000}}
	c.Requests = 100
	for n := range int64(100) {
		c.Latencies.Of(result.Total).Record(1000 * (n + 1))
	}
	r.AddClients([]result.Client{c})
	data, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	config, reference := wrapper.Artifact(run.Namespace, run.Name+"-result", artifact.Key, data)
	run.Status.Artifact = reference
	return []client.Object{run, config}
}

// table writes a table and returns it with the exit code and the error.
func table(t *testing.T, o options, objects ...client.Object) (string, int, error) {
	t.Helper()
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	var out bytes.Buffer
	err = o.write(t.Context(), &cluster.Cluster{WithWatch: c, Namespace: "default"}, &out)
	return out.String(), exit.Report(&bytes.Buffer{}, err), err
}

// names returns the names of the runs in a table.
func names(t *testing.T, document string) []string {
	t.Helper()
	var read struct{ Runs []report.Row }
	if err := json.Unmarshal([]byte(document), &read); err != nil {
		t.Fatalf("%v:\n%s", err, document)
	}
	var names []string
	for _, row := range read.Runs {
		names = append(names, row.Name)
	}
	return names
}

func TestOrder(t *testing.T) {
	other := newRun("other", 0)
	other.Labels = nil
	elsewhere := newRun("elsewhere", 0)
	elsewhere.Namespace = "elsewhere"
	objects := []client.Object{newRun("a-last", 9), newRun("d-second", 1), newRun("c-second", 1), newRun("z-first", 0), other, elsewhere}
	for _, tc := range []struct {
		options options
		want    []string
	}{
		{options{selector: "series=r1"}, []string{"z-first", "c-second", "d-second", "a-last"}},
		{options{selector: "series notin (r1)"}, []string{"other"}},
		{options{}, []string{"other", "z-first", "c-second", "d-second", "a-last"}},
		{options{names: []string{"c-second", "a-last", "other"}}, []string{"c-second", "a-last", "other"}},
	} {
		tc.options.format = "json"
		document, code, err := table(t, tc.options, objects...)
		if code != exit.Failed {
			t.Errorf("exit code %d for runs without results: %v", code, err)
		}
		if got := names(t, document); !slices.Equal(got, tc.want) {
			t.Errorf("%+v: rows %v, want %v", tc.options, got, tc.want)
		}
	}
}

func TestRows(t *testing.T) {
	crashed := ended(newRun("crashed", 2), metav1.ConditionFalse, v1alpha1.ReasonTargetCrashed, "exit code 137")
	gone := measured(t, newRun("gone", 3), "uid")[:1]
	swapped := measured(t, newRun("swapped", 4), "another")
	whole := measured(t, newRun("whole", 0), "uid")
	declared := "31,819 B  no keep-alive, -c 25, TLSv1.2/TLSv1.3"
	for _, tc := range []struct {
		name    string
		objects []client.Object
		code    int
		texts   []string
	}{
		{"with a result", whole, exit.Success, []string{"whole  Tomcat NIO + JSSE  31,819 B  no keep-alive, -c 25, TLSv1.2 ECDHE-RSA-AES256-GCM-SHA384", "50.0   50.0 ", "50.0/99.0/100  50.0/99.0/100  0", "yes"}},
		{"new", []client.Object{newRun("new", 1)}, exit.Failed, []string{"new  Tomcat NIO + JSSE  " + declared, "no result [1]", "[1] new has no result yet: the operator hasn't processed it"}},
		{"crashed", append(whole, crashed), exit.Failed, []string{"99.0", declared, "[1] crashed has no result: it failed with TargetCrashed: exit code 137"}},
		{"its artifact gone", slices.Concat(whole, gone, []client.Object{crashed}), exit.Unknown, []string{"99.0", "[1] crashed has no", `[2] gone has no readable result: ConfigMap "gone-result" with the result not found`}},
		{"another's artifact", swapped, exit.Unknown, []string{"holds the result of another run"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text, code, err := table(t, options{format: "text"}, tc.objects...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d: %v", code, tc.code, err)
			}
			for _, part := range tc.texts {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in:\n%s", part, text)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		options options
		text    string
	}{
		{options{format: "yaml"}, `unknown output format "yaml": use one of benchstat, csv, json, junit, markdown, text`},
		{options{format: "text", names: []string{"a"}, selector: "series=r1"}, "must not be used together"},
		{options{format: "text", selector: "series=r1=r2"}, `--selector "series=r1=r2"`},
	} {
		err := tc.options.check()
		if err == nil || !strings.Contains(err.Error(), tc.text) || exit.Report(&bytes.Buffer{}, err) != exit.Unknown {
			t.Errorf("%+v: error %v, want %q", tc.options, err, tc.text)
		}
	}
	for _, tc := range []struct {
		options options
		text    string
	}{
		{options{format: "text"}, `no BenchmarkRun found in namespace "default";`},
		{options{format: "text", selector: "series=r2"}, `no BenchmarkRun found in namespace "default" with the labels series=r2`},
		{options{format: "text", names: []string{"tomcat"}}, `BenchmarkRun "tomcat" not found in namespace "default"`},
	} {
		text, code, err := table(t, tc.options)
		if err == nil || !strings.Contains(err.Error(), tc.text) || code != exit.Unknown || text != "" {
			t.Errorf("%+v: exit code %d, error %v, want %q", tc.options, code, err, tc.text)
		}
	}
}

// TestAPIServerFails checks that an error other than NotFound isn't reported as a
// run without a result.
func TestAPIServerFails(t *testing.T) {
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("connection refused")
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(measured(t, newRun("whole", 0), "uid")...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, is := object.(*corev1.ConfigMap); is {
				return refused
			}
			return c.Get(ctx, key, object, options...)
		},
	}).Build()
	var out bytes.Buffer
	o := options{format: "text"}
	err = o.write(t.Context(), &cluster.Cluster{WithWatch: c, Namespace: "default"}, &out)
	if !errors.Is(err, refused) || exit.Report(&bytes.Buffer{}, err) != exit.Unknown || out.Len() > 0 {
		t.Errorf("error %v, table:\n%s", err, &out)
	}
}
