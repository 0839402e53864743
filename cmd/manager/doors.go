package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/door"
)

const (
	// maxScrapes bounds the scrapes that gather metrics at a time, and scrapeTimeout the time of each.
	maxScrapes    = 4
	scrapeTimeout = 10 * time.Second
	// reviewRate and reviewBurst bound the TokenReviews and the SubjectAccessReviews per second for scrapers.
	reviewRate  = 10
	reviewBurst = 20
	// metricsCertificateLifetime is longer than any manager runs. Each start makes a new certificate.
	metricsCertificateLifetime = 10 * 365 * 24 * time.Hour
	// certificateInterval is the interval at which the certificate of metrics is read, certificateRetry that without one.
	certificateInterval = time.Minute
	certificateRetry    = 5 * time.Second
)

// addDoors makes a manager serve its health and, unless they are disabled, its metrics.
func addDoors(ctx context.Context, mgr manager.Manager, secrets client.Reader, o *options) error {
	if o.healthAddr != disabled {
		server, err := healthServer(ctx, o.healthAddr, func() error { return nil })
		if err != nil {
			return err
		}
		if err := mgr.Add(server); err != nil {
			return err
		}
	}
	if o.metricsAddr == disabled {
		return nil
	}
	server, err := metricsServer(ctx, mgr.GetConfig(), mgr.GetHTTPClient(), secrets, o)
	if err != nil {
		return err
	}
	return mgr.Add(server)
}

// healthServer returns the server of the health probes. ready returns why the manager isn't.
func healthServer(ctx context.Context, address string, ready func() error) (*manager.Server, error) {
	return listen(ctx, "health probe", address, nil, door.Health(ready))
}

// metricsServer returns the server of the metrics.
func metricsServer(ctx context.Context, config *rest.Config, httpClient *http.Client, secrets client.Reader, o *options) (*manager.Server, error) {
	gather := promhttp.HandlerFor(crmetrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: maxScrapes})
	// Who reads the answer slowly keeps a connection, but none of maxScrapes: the answer is complete before it is sent.
	handler := http.TimeoutHandler(gather, scrapeTimeout, "Metrics could not be gathered in time.")
	var secure *tls.Config
	if o.secureMetrics {
		config = rest.CopyConfig(config)
		config.QPS, config.Burst = reviewRate, reviewBurst
		api, err := kubernetes.NewForConfigAndClient(config, httpClient)
		if err != nil {
			return nil, fmt.Errorf("set up the authorization of metrics: %w", err)
		}
		reviewer := &door.Reviewer{Tokens: api.AuthenticationV1().TokenReviews(), Access: api.AuthorizationV1().SubjectAccessReviews()}
		if handler, err = door.LimitTokens(reviewer.Authorize, handler); err != nil {
			return nil, fmt.Errorf("set up the authorization of metrics: %w", err)
		}
		pair, err := selfSigned(time.Now())
		if err != nil {
			return nil, fmt.Errorf("sign the certificate of metrics: %w", err)
		}
		certificate := &metricsCertificate{secrets: secrets, secret: types.NamespacedName{Namespace: o.namespace, Name: o.certificateSecret()}, current: pair}
		secure = &tls.Config{GetCertificate: certificate.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", handler)
	return listen(ctx, "metrics", o.metricsAddr, secure, mux)
}

// metricsCertificate is the certificate of the sessions, which scrapers verify by the CA in its Secret. A manager that doesn't lead has it
// too. As long as there is none, it is one that the manager signed itself.
type metricsCertificate struct {
	secrets client.Reader
	secret  types.NamespacedName

	mu      sync.Mutex
	current *tls.Certificate
	// next is the time of the next look at the Secret.
	next time.Time
}

func (m *metricsCertificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Before(m.next) {
		return m.current, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), certificateRetry)
	defer cancel()
	var secret corev1.Secret
	err := m.secrets.Get(ctx, m.secret, &secret)
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err == nil {
			m.current = &pair
		}
	}
	m.next = now.Add(certificateInterval)
	if err != nil {
		m.next = now.Add(certificateRetry)
		ctrl.Log.WithName("metrics").V(1).Info("Failed to read the certificate", "secret", m.secret, "error", err.Error())
	}
	return m.current, nil
}

func selfSigned(now time.Time) (*tls.Certificate, error) {
	key, err := certificate.NewKey()
	if err != nil {
		return nil, err
	}
	leaf := certificate.Leaf([]string{"localhost"}, x509.ExtKeyUsageServerAuth, now.Add(-time.Minute), now.Add(metricsCertificateLifetime))
	signed, encodedKey, err := certificate.Sign(leaf, key, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(signed, encodedKey)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// listen returns a server that has its port already, over TLS if it is configured. It serves whether the manager leads or not.
func listen(ctx context.Context, name, address string, secure *tls.Config, handler http.Handler) (*manager.Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for %s requests: %w", name, err)
	}
	listener = door.Listen(listener, door.Machines)
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	return &manager.Server{Name: name, Server: door.NewServer(handler), Listener: listener, ShutdownTimeout: new(time.Second)}, nil
}
