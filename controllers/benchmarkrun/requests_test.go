package benchmarkrun

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// listed makes clients send the requests of a list in the ConfigMap "urls".
func listed(w *wrapper.Run) {
	w.Spec.Load.Requests = nil
	w.Spec.Load.RequestsFrom = &v1alpha1.RequestsSource{ConfigMapKeyRef: v1alpha1.ConfigMapKeyReference{Name: "urls", Key: "list.txt"}}
	w.Spec.Target.Readiness.Path = "/ready"
}

// sentList returns the list of requests that was sent to a client.
func (b *bench) sentList(i int) []requestlist.Entry {
	b.t.Helper()
	entries, err := requestlist.Decode(b.sessions.plans[i].RequestList)
	if err != nil {
		b.t.Fatal(err)
	}
	return entries
}

// TestListsOfRequestsAreFrozen checks that clients get the list that the user's
// ConfigMap had when the run started, even if that, or the run's own, changes.
func TestListsOfRequestsAreFrozen(t *testing.T) {
	b := newBench(t, listed, func(w *wrapper.Run) {
		w.Spec.Target.Content = []v1alpha1.ContentFile{{Path: "/b", SizeBytes: 7}}
	})
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "/urls: not found")
	urls := b.users("urls", map[string]string{"list.txt": "# mine\n/a\nPOST /b?c 3\n"}, nil)
	b.reconcile()
	urls.Data["list.txt"] = "not a path"
	if err := api.Update(t.Context(), urls); err != nil {
		t.Fatal(err)
	}
	b.podsRun()
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	want := []requestlist.Entry{{Method: "GET", Path: "/a", Weight: 1}, {Method: "POST", Path: "/b?c", Weight: 3}}
	for i := range 2 {
		if diff := cmp.Diff(want, b.sentList(i)); diff != "" {
			t.Errorf("client %d (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(map[string]int64{"/b": 7}, b.sessions.plans[i].Lengths); diff != "" || len(b.sessions.plans[i].Requests) != 0 {
			t.Errorf("client %d: %+v, lengths (-want +got):\n%s", i, b.sessions.plans[i], diff)
		}
		if err := b.sessions.plans[i].Check(); err != nil {
			t.Error(err)
		}
	}

	// The run's own is deleted, and the user's is no longer a list: clients that are
	// ready have theirs, and no other is sent.
	if err := api.Delete(t.Context(), b.config()); err != nil {
		t.Fatal(err)
	}
	before := b.sessions.plans
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	if diff := cmp.Diff(before, b.sessions.plans); diff != "" {
		t.Errorf("the clients got something else:\n%s", diff)
	}
}

func TestListsOfRequestsThatCanNotBeUsedEndTheRun(t *testing.T) {
	for name, test := range map[string]struct {
		data   map[string]string
		reason string
		says   []string
	}{
		"a bad line": {
			map[string]string{"list.txt": "/a\n\nhttp://www.example.org/\n"}, v1alpha1.ReasonInvalidSpec,
			[]string{"spec.load.requestsFrom: ConfigMap urls, key list.txt: line 3:", "give the path alone", "Fix it, then create a new run"},
		},
		"no line":      {map[string]string{"list.txt": "# none\n"}, v1alpha1.ReasonInvalidSpec, []string{"there is no request in it"}},
		"no such key":  {map[string]string{"list": "/"}, v1alpha1.ReasonConfigurationMissing, []string{"key list.txt of ConfigMap urls: not found"}},
		"no ConfigMap": {nil, v1alpha1.ReasonConfigurationMissing, []string{"/urls: not found"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, listed)
			if test.data != nil {
				b.users("urls", test.data, nil)
			}
			b.reconcile()
			if test.reason == v1alpha1.ReasonConfigurationMissing {
				b.wants(v1alpha1.ReasonStarting, test.says...) // it may come
			}
			b.later(inputTimeout + time.Second)
			b.reconcile()
			b.wants(test.reason, test.says...)
		})
	}
}

// TestTheLongestListFits checks that the longest list fits into the run's ConfigMap
// and into a message, even if it can hardly be compressed.
func TestTheLongestListFits(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var text strings.Builder
	state := uint64(1)
	for range requestlist.MaxRequests {
		text.WriteByte('/')
		for range 8 {
			state = state*6364136223846793005 + 1442695040888963407
			text.WriteByte(letters[state>>58])
		}
		text.WriteByte('\n')
	}
	b := newBench(t, listed, external, func(w *wrapper.Run) { w.Spec.Target.Readiness.Path = "/" })
	b.users("urls", map[string]string{"list.txt": text.String()}, nil)
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting)
	if n := len(b.sentList(1)); n != requestlist.MaxRequests {
		t.Errorf("%d requests", n)
	}
	if data, err := session.Encode(b.sessions.plans[0]); err != nil || len(data) > session.MaxMessageBytes/2 {
		t.Errorf("a plan of %d bytes: %v", len(data), err)
	}
}
