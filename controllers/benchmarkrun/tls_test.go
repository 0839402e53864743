package benchmarkrun

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// selfSigned returns a certificate that the operator issues, with a key that is
// generated quickly.
func selfSigned() v1alpha1.Certificate {
	return v1alpha1.Certificate{
		SelfSigned: &v1alpha1.SelfSigned{},
		PrivateKey: &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA, Size: new(int32(256))},
	}
}

// mutual makes target and clients authenticate each other by these certificates.
func mutual(server, client v1alpha1.Certificate) func(*wrapper.Run) {
	return func(w *wrapper.Run) {
		w.Spec.Target.TLS = &v1alpha1.TLS{
			Certificate: &server, ServerName: "www.example.org",
			ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: client},
		}
	}
}

// secretNames returns the names of the Secrets of a run with mutual TLS.
func (b *bench) secretNames() (server, client string) {
	uid := string(b.run.UID)[:8]
	return "run-tls-" + uid, "run-client-tls-" + uid
}

func (b *bench) secret(name string) *corev1.Secret {
	b.t.Helper()
	secret := &corev1.Secret{}
	if err := b.get(name, secret); err != nil {
		b.t.Fatal(err)
	}
	return secret
}

// secrets returns the names of all Secrets in the run's namespace.
func (b *bench) secrets() []string {
	b.t.Helper()
	var list corev1.SecretList
	if err := api.List(b.t.Context(), &list, client.InNamespace(b.run.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// restarted replaces the reconciler, as after a restart of the manager.
func (b *bench) restarted() {
	b.Reconciler = &Reconciler{
		Client: cached{api}, APIReader: api, Events: b.Events, Clock: b.clock, Sessions: b.sessions, CA: b.CA, Settings: b.Settings, Logs: b.Logs,
	}
}

func TestTLSSecretsFitEachOther(t *testing.T) {
	server := selfSigned()
	server.DNSNames = []string{"www.example.org", "b.example"}
	b := newBench(t, mutual(server, selfSigned()))
	b.reconcile()
	serverName, clientName := b.secretNames()
	for _, test := range []struct {
		name, dnsName string
		usage         x509.ExtKeyUsage
	}{
		{serverName, "b.example", x509.ExtKeyUsageServerAuth},
		{clientName, "run-target." + b.run.Namespace + ".svc", x509.ExtKeyUsageClientAuth},
	} {
		secret := b.secret(test.name)
		if secret.Type != corev1.SecretTypeTLS || !metav1.IsControlledBy(secret, b.run) || secret.Labels[manifest.LabelRunUID] != string(b.run.UID) {
			t.Errorf("%s: type %s, owners %v, labels %v", test.name, secret.Type, secret.OwnerReferences, secret.Labels)
		}
		pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(secret.Data["ca.crt"])
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{
			Roots: roots, DNSName: test.dnsName, KeyUsages: []x509.ExtKeyUsage{test.usage},
			CurrentTime: b.clock.Now().Add(time.Hour), // the default of activeDeadlineSeconds
		}); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestTLSNeedsNoSecretWithoutIt(t *testing.T) {
	b := newBench(t)
	b.reconcile()
	if got := b.secrets(); got != nil {
		t.Errorf("Secrets: %v", got)
	}
}

// TestTLSSurvivesRestarts kills the manager before and after the creation of each
// object, and continues with another manager.
func TestTLSSurvivesRestarts(t *testing.T) {
	const objects = 5 // ConfigMap, two Secrets, pod, Job
	for at := range objects {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, done %t", at, done), func(t *testing.T) {
				b := newBench(t, mutual(selfSigned(), selfSigned()))
				created := 0
				b.intercept(interceptor.Funcs{
					Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
						if created++; created <= at {
							return c.Create(ctx, obj, options...)
						}
						if done {
							if err := c.Create(ctx, obj, options...); err != nil {
								return err
							}
						}
						return errKilled
					},
				})
				if at == objects-1 {
					b.reconcile()
					b.bind()
				}
				b.killed()
				before := map[string]*corev1.Secret{}
				for _, name := range b.secrets() {
					before[name] = b.secret(name)
				}
				b.restarted()
				b.scheduled()
				b.wants(v1alpha1.ReasonStarting)
				server, clients := b.secretNames()
				if diff := cmp.Diff([]string{clients, server}, b.secrets()); diff != "" {
					t.Errorf("Secrets (-want +got):\n%s", diff)
				}
				for name, secret := range before {
					if diff := cmp.Diff(secret.Data, b.secret(name).Data); diff != "" {
						t.Errorf("%s was created again", name)
					}
				}
				b.targetPod()
				if err := b.get("run-client", &batchv1.Job{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// ends holds the ways in which a run ends.
var ends = map[string]func(*bench){
	"it succeeds": func(b *bench) {
		b.podsRun()
		b.reconcile()
		b.measured(b.sessions.starts[measurementStage])
		b.reconcile()
		b.wants(v1alpha1.ReasonCompleted)
		b.later(exitTimeout + time.Second)
	},
	"it fails": func(b *bench) {
		b.sessions.observation = session.Observation{Agent: &session.AgentState{PodState: session.PodState{Failure: "on purpose"}}}
		b.reconcile()
		b.wants(v1alpha1.ReasonTargetLost)
	},
	"it is suspended": func(b *bench) {
		b.podsRun()
		b.reconcile()
		b.suspend(true)
	},
	"somebody deletes the run's ConfigMap, and it fails": func(b *bench) {
		if err := api.Delete(b.t.Context(), b.config()); err != nil {
			b.t.Fatal(err)
		}
		b.sessions.observation = session.Observation{Agent: &session.AgentState{PodState: session.PodState{Failure: "on purpose"}}}
		b.reconcile()
	},
}

func TestTLSLeavesNothing(t *testing.T) {
	for name, end := range ends {
		for _, retention := range []v1alpha1.PodRetention{v1alpha1.RetainNever, v1alpha1.RetainOnFailure, v1alpha1.RetainAlways} {
			t.Run(name+", pods kept "+string(retention), func(t *testing.T) {
				b := newBench(t, mutual(selfSigned(), selfSigned()), func(w *wrapper.Run) { w.Retain(retention) })
				b.reconcile()
				if got := b.secrets(); len(got) != 2 {
					t.Fatalf("Secrets: %v", got)
				}
				end(b)
				b.reconcile()
				b.reconcile()
				if got := b.secrets(); got != nil {
					t.Errorf("left: %v", got)
				}
			})
		}
	}
}

func TestTLSKeepsTheUsersSecrets(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			own := func(name string) v1alpha1.Certificate { return v1alpha1.Certificate{SecretName: name} }
			b := newBench(t, mutual(own("mine"), own("my-clients")))
			for _, name := range []string{"mine", "my-clients"} {
				secret := &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: name}, Type: corev1.SecretTypeTLS,
					Data: map[string][]byte{"tls.crt": []byte("c"), "tls.key": []byte("k")},
				}
				if err := api.Create(t.Context(), secret); err != nil {
					t.Fatal(err)
				}
			}
			b.reconcile()
			end(b)
			b.reconcile()
			b.reconcile()
			if diff := cmp.Diff([]string{"mine", "my-clients"}, b.secrets()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTLSIsCreatedAgainAfterSuspension checks that a manager forgets the Secrets of a
// suspended run.
func TestTLSIsCreatedAgainAfterSuspension(t *testing.T) {
	b := newBench(t, mutual(selfSigned(), selfSigned()))
	b.reconcile()
	server, _ := b.secretNames()
	before := b.secret(server)
	b.suspend(true)
	b.reconcile()
	b.suspend(false)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting)
	if after := b.secret(server); bytes.Equal(before.Data["tls.key"], after.Data["tls.key"]) {
		t.Error("the key is the old one")
	}
}

// TestTLSSaysWhyASecretIsRefused forbids Secrets by a quota.
func TestTLSSaysWhyASecretIsRefused(t *testing.T) {
	b := newBench(t, mutual(selfSigned(), selfSigned()))
	one := corev1.ResourceList{corev1.ResourceSecrets: resource.MustParse("1")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: one}}
	if err := api.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	quota.Status = corev1.ResourceQuotaStatus{Hard: one, Used: corev1.ResourceList{corev1.ResourceSecrets: resource.MustParse("0")}}
	if err := api.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	// The API server watches quotas, so it may know this one only later.
	probe := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, GenerateName: "probe-"}}
	for refused := false; !refused; {
		err := api.Create(t.Context(), probe.DeepCopy())
		if refused = apierrors.IsForbidden(err); !refused && err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile()
	b.wants(v1alpha1.ReasonQuotaExceeded, "Secret run-", "exceeded quota: few", "ResourceQuota few of namespace "+b.run.Namespace)
	b.reconcile()
	for _, name := range b.secrets() {
		if !strings.HasPrefix(name, "probe-") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestTLSKeepsSecrets checks that no key is in what the operator writes or logs.
func TestTLSKeepsSecrets(t *testing.T) {
	b := newBench(t, mutual(selfSigned(), selfSigned()))
	recorder := events.NewFakeRecorder(100)
	b.Events = recorder
	var said strings.Builder
	log := funcr.New(func(prefix, args string) { said.WriteString(prefix + args) }, funcr.Options{Verbosity: 10})
	reconcile := func() {
		t.Helper()
		b.reload()
		if _, err := b.Reconcile(ctrl.LoggerInto(t.Context(), log), b.request()); err != nil {
			t.Fatal(err)
		}
		b.reload()
	}
	b.Logs = func(context.Context, string, string, string, time.Time) (string, error) { return "", errKilled }
	reconcile()
	var keys [][]byte
	for _, name := range b.secrets() {
		lines := bytes.Split(bytes.TrimSpace(b.secret(name).Data["tls.key"]), []byte("\n"))
		keys = append(keys, lines[1:len(lines)-1]...)
	}
	if len(keys) < 4 {
		t.Fatalf("%d lines of keys", len(keys))
	}
	b.podsRun()
	reconcile()
	b.serverEnds(corev1.ContainerStateTerminated{ExitCode: 1})
	reconcile()
	if said.Len() == 0 {
		t.Error("nothing was logged: it can't be seen here")
	}
	for _, obj := range []client.Object{b.run, b.config(), b.targetPod()} {
		encoded, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		said.Write(encoded)
	}
	close(recorder.Events)
	for event := range recorder.Events {
		said.WriteString(event)
	}
	for _, key := range keys {
		if strings.Contains(said.String(), string(key)) {
			t.Error("a line of a key is written")
		}
	}
}
