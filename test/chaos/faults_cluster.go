package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/test/harness"
)

func partStopped(part string) strike {
	return func(ctx context.Context, _ *trial) (func() error, error) {
		ctx = context.WithoutCancel(ctx)
		return func() error { return harness.Command(ctx, "assay-cluster", "start", part) }, harness.Command(ctx, "assay-cluster", "stop", part)
	}
}

// dnsGone scales CoreDNS to zero.
func dnsGone(ctx context.Context, t *trial) (func() error, error) {
	dns := &appsv1.Deployment{}
	if err := t.Get(ctx, types.NamespacedName{Namespace: "kube-system", Name: "coredns"}, dns); err != nil {
		return nil, err
	}
	replicas := max(ptr.Deref(dns.Spec.Replicas, 1), 1)
	scale := func(ctx context.Context, n int32) error {
		return t.SubResource("scale").Update(ctx, dns.DeepCopy(), client.WithSubResourceBody(&autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Namespace: dns.Namespace, Name: dns.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: n},
		}))
	}
	return func() error {
		return harness.Retry(context.WithoutCancel(ctx), func(ctx context.Context) error { return scale(ctx, replicas) })
	}, scale(ctx, 0)
}

const quotaName = "chaos"

// quota limits the namespace to what it has of a resource.
func (t *trial) quota(ctx context.Context, name corev1.ResourceName, n int) error {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.run.Namespace, Name: quotaName},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: *resource.NewQuantity(int64(n), resource.DecimalSI)}},
	}
	if err := t.Create(ctx, quota); err != nil {
		return err
	}
	return harness.Await(ctx, 30*time.Second, func(ctx context.Context) error {
		err := t.Get(ctx, client.ObjectKeyFromObject(quota), quota)
		if _, known := quota.Status.Used[name]; err == nil && !known {
			err = errors.New("the use of the quota is not known")
		}
		return err
	})
}

// artifactOverQuota allows the ConfigMaps that there are without the result's.
func artifactOverQuota(ctx context.Context, t *trial) (func() error, error) {
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: t.run.Namespace, Name: quotaName}}
	return func() error { return client.IgnoreNotFound(t.Delete(context.WithoutCancel(ctx), quota)) },
		t.quota(ctx, "count/configmaps", 2) // the run's and kube-root-ca.crt
}

// podsOverQuota allows one pod, the target.
func podsOverQuota(ctx context.Context, t *trial) (func() error, error) {
	return nil, t.quota(ctx, corev1.ResourcePods, 1)
}

func namespaceDeleted(ctx context.Context, t *trial) (func() error, error) {
	return nil, t.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.run.Namespace}})
}

// webhook registers a webhook for the run's objects of a resource whose names have a suffix. It denies
// them or is down.
func webhook(resources, suffix string, denies bool) strike {
	return func(ctx context.Context, t *trial) (func() error, error) {
		url, bundle, stop := "https://127.0.0.1:9/", []byte(nil), func() error { return nil }
		if denies {
			var err error
			if url, bundle, stop, err = serveDenials(); err != nil {
				return nil, err
			}
		}
		hook := &registrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: t.run.Namespace},
			Webhooks: []registrationv1.ValidatingWebhook{{
				Name:                    "chaos.assay.dev",
				AdmissionReviewVersions: []string{"v1"},
				SideEffects:             ptr.To(registrationv1.SideEffectClassNone),
				FailurePolicy:           ptr.To(registrationv1.Fail),
				TimeoutSeconds:          ptr.To(int32(1)),
				NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: t.run.Namespace}},
				MatchConditions:         []registrationv1.MatchCondition{{Name: "name", Expression: "object.metadata.name.endsWith('" + suffix + "')"}},
				ClientConfig:            registrationv1.WebhookClientConfig{URL: &url, CABundle: bundle},
				Rules: []registrationv1.RuleWithOperations{{
					Operations: []registrationv1.OperationType{registrationv1.Create},
					Rule:       registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resources}},
				}},
			}},
		}
		return func() error {
			return errors.Join(stop(), harness.Retry(context.WithoutCancel(ctx), func(ctx context.Context) error {
				return client.IgnoreNotFound(t.Delete(ctx, hook))
			}))
		}, t.Create(ctx, hook)
	}
}

// serveDenials serves a webhook that denies everything, for the API server of this machine.
func serveDenials() (url string, bundle []byte, stop func() error, err error) {
	made, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{"localhost"}, Lifetime: time.Hour}, time.Now())
	if err != nil {
		return "", nil, nil, err
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		return "", nil, nil, err
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return "", nil, nil, err
	}
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{pair}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var review admissionv1.AdmissionReview
			text, err := io.ReadAll(r.Body)
			if err == nil {
				err = json.Unmarshal(text, &review)
			}
			if err != nil || review.Request == nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Code: http.StatusBadRequest, Message: "not today"}}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(review)
		}),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return "https://localhost:" + port + "/", made.CA, server.Close, err
}
