package sessioncertificate

import (
	"crypto/x509"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

// runConfig returns a run's ConfigMap with a CA.
func runConfig(ca string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "run-config",
			Labels: map[string]string{manifest.LabelRunUID: "1"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun", Name: "run", UID: "1", Controller: ptr.To(true),
			}},
		},
		Data: map[string]string{caCertKey: ca, "server.xml": "x"},
	}
}

// given returns the CA in the ConfigMap after Trust reconciled it.
func given(t *testing.T, config *corev1.ConfigMap, source Source) string {
	t.Helper()
	c := fake.NewClientBuilder().WithObjects(config).Build()
	trust := &Trust{Client: c, APIReader: c, Source: source}
	if _, err := trust.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(config)}); err != nil {
		t.Fatal(err)
	}
	var written corev1.ConfigMap
	if err := trust.Client.Get(t.Context(), client.ObjectKeyFromObject(config), &written); err != nil {
		t.Fatal(err)
	}
	if written.Data["server.xml"] != "x" {
		t.Error("what else is in the ConfigMap was changed")
	}
	return written.Data[caCertKey]
}

func TestTrustGivesRunningRunsTheNewCA(t *testing.T) {
	now := time.Now()
	old := newIssuer(t, now)
	l := newLoading(newIssuer(t, now).issue(t, now, nil))
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	written := given(t, runConfig(string(old.pem)), l)
	if written != string(old.pem)+string(l.CA()) {
		t.Errorf("the run was given %s", written)
	}
	if again := given(t, runConfig(written), l); again != written {
		t.Errorf("the second time it was given %s", again)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(written))
	if err := verify(l.current.Load().serving, roots, now); err != nil {
		t.Errorf("the run's pods don't trust the manager: %v", err)
	}
}

func TestTrustLeavesOtherConfigMapsAlone(t *testing.T) {
	now := time.Now()
	l := newLoading(newIssuer(t, now).issue(t, now, nil))
	if empty := given(t, runConfig("mine"), l); empty != "mine" {
		t.Errorf("before there is a CA it writes %s", empty)
	}
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	somebodys := runConfig("mine")
	somebodys.OwnerReferences = nil
	if written := given(t, somebodys, l); written != "mine" {
		t.Errorf("it writes %s into a ConfigMap that isn't a run's", written)
	}
	artifact := runConfig("")
	delete(artifact.Data, caCertKey)
	if written := given(t, artifact, l); written != "" {
		t.Errorf("it writes %s into an artifact", written)
	}
}
