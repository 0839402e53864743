package leader

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const duration = 10 * time.Second

var begin = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }

// managers are processes that share a Lease, one after the other.
type managers struct {
	t       *testing.T
	cluster *fake.Clientset
	*Lock
}

// start starts another process of a pod.
func (m *managers) start() {
	m.Lock = New(m.cluster.CoordinationV1(), Config{Namespace: "ns", Name: "lease", Identity: "pod", LeaseDuration: duration, RenewDeadline: 7 * time.Second})
}

// renew acquires the Lease, or renews it, as client-go's LeaderElector does.
func (m *managers) renew(seconds float64) error {
	m.t.Helper()
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "pod", LeaseDurationSeconds: 10, RenewTime: metav1.NewTime(at(seconds))}
	if _, _, err := m.Get(m.t.Context()); err != nil {
		return m.Create(m.t.Context(), record)
	}
	return m.Update(m.t.Context(), record)
}

func (m *managers) renewAll(seconds ...float64) {
	m.t.Helper()
	for _, s := range seconds {
		if err := m.renew(s); err != nil {
			m.t.Fatal(err)
		}
	}
}

func TestWhetherTheLeaseIsLost(t *testing.T) {
	m := &managers{t: t, cluster: fake.NewClientset()}
	m.start()
	if m.Lost(time.Now().Add(time.Hour)) {
		t.Error("a manager that never led has lost the Lease")
	}
	m.renewAll(0)
	if m.Lost(time.Now().Add(6 * time.Second)) {
		t.Error("it is lost before RenewDeadline")
	}
	if !m.Lost(time.Now().Add(8 * time.Second)) {
		t.Error("it isn't lost after RenewDeadline")
	}
	other := resourcelock.LeaderElectionRecord{HolderIdentity: "other", RenewTime: metav1.NewTime(at(1))}
	if err := New(m.cluster.CoordinationV1(), Config{Namespace: "ns", Name: "lease"}).Update(t.Context(), other); err == nil {
		t.Error("a Lease was updated that was never read")
	}
	second := New(m.cluster.CoordinationV1(), Config{Namespace: "ns", Name: "lease", Identity: "other"})
	if _, _, err := second.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !m.Lost(time.Now()) {
		t.Error("it isn't lost although another has it")
	}
}

// TestACutOffManagerDoesNotLead makes the API server out of reach for a manager that doesn't lead. Its
// first answer after that starts the manager from scratch.
func TestACutOffManagerDoesNotLead(t *testing.T) {
	m := &managers{t: t, cluster: fake.NewClientset()}
	m.start()
	m.renewAll(0)
	for name, test := range map[string]struct {
		away time.Duration
		want int
	}{"for a moment": {duration - time.Second, 0}, "for long": {duration + time.Second, 1}} {
		returned := 0
		lock := New(m.cluster.CoordinationV1(), Config{Namespace: "ns", Name: "lease", Identity: "pod", LeaseDuration: duration, Returned: func() { returned++ }})
		lock.recorder.contact = time.Now().Add(-test.away)
		_, _, err := lock.Get(t.Context())
		if returned != test.want || (err != nil) != (test.want > 0) {
			t.Errorf("%s: returned %d times: %v", name, returned, err)
		}
	}
}
