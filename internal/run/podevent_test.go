package run

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

func eventAt(seconds int, kind, reason, message string) corev1.Event {
	return corev1.Event{Type: kind, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(begin.Add(time.Duration(seconds) * time.Second))}
}

func TestLastWarning(t *testing.T) {
	mount := func(seconds int) corev1.Event { return eventAt(seconds, "Warning", "FailedMount", "no") }
	tests := map[string]struct {
		events []corev1.Event
		want   string
	}{
		"nothing":            {nil, ""},
		"all is well":        {[]corev1.Event{eventAt(1, "Normal", "Scheduled", ""), eventAt(2, "Normal", "Pulling", "")}, ""},
		"it can't mount":     {[]corev1.Event{eventAt(1, "Normal", "Scheduled", ""), mount(2)}, "FailedMount: no"},
		"in another order":   {[]corev1.Event{mount(2), eventAt(1, "Normal", "Scheduled", "")}, "FailedMount: no"},
		"it was overcome":    {[]corev1.Event{mount(2), eventAt(3, "Normal", "Pulling", "")}, ""},
		"in the same second": {[]corev1.Event{eventAt(2, "Normal", "Pulling", ""), mount(2)}, ""},
		"it came again":      {[]corev1.Event{mount(4), eventAt(3, "Normal", "Pulling", "")}, "FailedMount: no"},
		"a newer recorder's": {[]corev1.Event{
			eventAt(5, "Normal", "Pulling", ""),
			{Type: "Warning", Reason: "Failed", Message: "x", EventTime: metav1.NewMicroTime(begin), Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(begin.Add(6 * time.Second))}},
		}, "Failed: x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if event := LastWarning(test.events); event != nil {
				got = event.String()
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestPodEventIsThatSomethingIsMissing(t *testing.T) {
	for message, want := range map[string]bool{
		`MountVolume.SetUp failed for volume "server-volume-0" : secret "s" not found`:                                         true,
		`MountVolume.SetUp failed for volume "server-volume-0" : configmap "c" not found`:                                      true,
		`MountVolume.SetUp failed for volume "tls" : [secret "a" not found, references non-existent secret key: ca.crt]`:       true,
		`MountVolume.SetUp failed for volume "tls" : references non-existent secret key: ca.crt`:                               true,
		`MountVolume.SetUp failed for volume "tls-client" : references non-existent config key: ca.crt`:                        true,
		`MountVolume.SetUp failed for volume "tls" : failed to sync secret cache: timed out waiting for the condition`:         false,
		`MountVolume.MountDevice failed for volume "p" : driver name x not found in the list of registered CSI drivers`:        false,
		`Unable to attach or mount volumes: unmounted volumes=[p], unattached volumes=[]: timed out waiting for the condition`: false,
	} {
		if got := (&PodEvent{"FailedMount", message}).missing(); got != want {
			t.Errorf("%s: %t", message, got)
		}
	}
	if (&PodEvent{"FailedCreatePodSandBox", `configmap "c" not found`}).missing() || (*PodEvent)(nil).missing() {
		t.Error("something is missing that no volume needs")
	}
}

func TestDecideSaysWhatAPodWaitsFor(t *testing.T) {
	const missing = `MountVolume.SetUp failed for volume "tls" : secret "mine" not found`
	s := newScene().stuck(missing)
	p := s.decide()
	if got := stateIn(p); got.Reason != v1alpha1.ReasonStarting || !strings.Contains(got.Message, missing) || p.RequeueAfter > podEventInterval {
		t.Errorf("at first: %+v, again after %s", got, p.RequeueAfter)
	}
	s.o.Target.CreationTimestamp.Time = now.Add(-inputTimeout - time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonConfigurationMissing || !strings.Contains(got.Message, missing) {
		t.Errorf("then: %+v", got)
	}

	const other = "MountVolume.MountDevice failed for volume \"p\" : busy"
	s = newScene().stuck(other)
	s.o.Target.CreationTimestamp.Time = now.Add(-inputTimeout - time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonStarting {
		t.Errorf("for what may be overcome: %+v", got)
	}
	s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(5))
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonTargetNotStarted || !strings.Contains(got.Message, other) {
		t.Errorf("and isn't: %+v", got)
	}
}

func TestDecideSaysWhatAClientWaitsFor(t *testing.T) {
	const missing = `MountVolume.SetUp failed for volume "tls-client" : configmap "ca" not found`
	s := newScene().stuck("")
	s.o.Clients[1].Name, s.o.Clients[1].CreationTimestamp.Time = "client-1", now.Add(-inputTimeout)
	s.o.PodEvents = map[string]*PodEvent{"client-1": {"FailedMount", missing}}
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonStarting || !strings.Contains(got.Message, "Client 1 does not start yet: FailedMount: "+missing) {
		t.Errorf("at first: %+v", got)
	}
	s.o.Clients[1].CreationTimestamp.Time = now.Add(-inputTimeout - time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonConfigurationMissing || !strings.Contains(got.Message, missing) {
		t.Errorf("then: %+v", got)
	}
}

// TestDecideNamesTheFieldOfCredentialsThatAreMissing checks that the message names
// the field, the Secret and the keys that it must have.
func TestDecideNamesTheFieldOfCredentialsThatAreMissing(t *testing.T) {
	for _, test := range []struct {
		scheme  v1alpha1.AuthenticationScheme
		message string
		want    string // after the field; empty where it isn't the credentials
	}{
		{v1alpha1.AuthenticationBasic, `MountVolume.SetUp failed for volume "credentials" : secret "login" not found`, "have the keys username and password for scheme Basic"},
		{v1alpha1.AuthenticationForm, `MountVolume.SetUp failed for volume "credentials" : references non-existent secret key: password`, "have the keys username and password for scheme Form"},
		{v1alpha1.AuthenticationBearer, `MountVolume.SetUp failed for volume "credentials" : references non-existent secret key: token`, "have the key token for scheme Bearer"},
		{v1alpha1.AuthenticationBearer, `MountVolume.SetUp failed for volume "tls-client" : secret "ca" not found`, ""},
		{"", `MountVolume.SetUp failed for volume "tls-client" : secret "ca" not found`, ""},
	} {
		s := newScene().stuck("")
		s.o.Clients[1].Name = "client-1"
		s.o.PodEvents = map[string]*PodEvent{"client-1": {"FailedMount", test.message}}
		if test.scheme != "" {
			s.run.Spec.Load.Authentication = &v1alpha1.Authentication{Scheme: test.scheme, SecretName: "login"}
		}
		for _, late := range []bool{false, true} {
			s.o.Clients[1].CreationTimestamp.Time = now.Add(-inputTimeout)
			if late {
				s.o.Clients[1].CreationTimestamp.Time = now.Add(-inputTimeout - time.Second)
			}
			got := stateIn(s.decide())
			if (got.Reason == v1alpha1.ReasonConfigurationMissing) != late || !strings.Contains(got.Message, test.message) {
				t.Errorf("%s, late: %t: %+v", test.message, late, got)
			}
			field := "spec.load.authentication.secretName: Secret ns/login must exist and " + test.want
			if strings.Contains(got.Message, field) != (test.want != "") {
				t.Errorf("%s, late: %t: %s", test.message, late, got.Message)
			}
		}
	}
}
