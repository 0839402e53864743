package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func eventAt(seconds int, kind, reason, message string) corev1.Event {
	return corev1.Event{Type: kind, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(time.Unix(0, 0).Add(time.Duration(seconds) * time.Second))}
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
			{Type: "Warning", Reason: "Failed", Message: "x", EventTime: metav1.NewMicroTime(time.Unix(0, 0)), Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(time.Unix(0, 0).Add(6 * time.Second))}},
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

func TestEventIsThatSomethingIsMissing(t *testing.T) {
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
		if got := (&Event{Reason: "FailedMount", Message: message}).Missing(); got != want {
			t.Errorf("%s: %t", message, got)
		}
	}
	if (&Event{Reason: "FailedCreatePodSandBox", Message: `configmap "c" not found`}).Missing() || (*Event)(nil).Missing() {
		t.Error("something is missing that no volume needs")
	}
}
