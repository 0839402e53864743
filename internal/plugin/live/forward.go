package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/session"
)

// forwardTimeout bounds the time until a port is forwarded.
const forwardTimeout = 15 * time.Second

// forwarder forwards ports as "kubectl port-forward" does.
type forwarder struct {
	config *rest.Config
	rest   rest.Interface
}

func newForwarder(config *rest.Config) (*forwarder, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for pods: %w", err)
	}
	return &forwarder{config: config, rest: core.RESTClient()}, nil
}

// forward forwards a free port of the loopback interface to one of a pod's until the context ends or the connection
// breaks. The channel is closed then. The error is an Unavailable.
func (f *forwarder) forward(ctx context.Context, namespace, pod string, port int) (address string, ended <-chan struct{}, err error) {
	dialer, err := f.dialer(namespace, pod)
	if err != nil {
		return "", nil, err
	}
	ready := make(chan struct{})
	forwarded, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, ready, io.Discard, io.Discard)
	if err != nil {
		return "", nil, fmt.Errorf("forward a port: %w", err)
	}
	done := make(chan struct{})
	var failure error
	go func() {
		defer close(done)
		failure = forwarded.ForwardPorts()
	}()
	select {
	case <-ready:
	case <-done:
		return "", nil, explain(failure, namespace, pod)
	case <-time.After(forwardTimeout):
		return "", nil, explain(fmt.Errorf("no answer within %s", forwardTimeout), namespace, pod)
	}
	ports, err := forwarded.GetPorts()
	if err != nil {
		return "", nil, fmt.Errorf("forward a port: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))), done, nil
}

// explain returns why a port couldn't be forwarded.
func explain(err error, namespace, pod string) error {
	if err == nil {
		err = errors.New("the connection was closed")
	}
	if text := err.Error(); strings.Contains(text, "forbidden") || strings.Contains(text, "Forbidden") {
		return &Unavailable{Denied: true, Reason: fmt.Sprintf(
			"You may not create pods/portforward in namespace %s, by which the leader is reached. Ask for the Role with live-viewer in its name there.", namespace)}
	}
	return unavailable("No port can be forwarded to the leader, pod %s: %s.", pod, err)
}

// dialer dials by WebSocket and, where the API server or a proxy doesn't support that, by SPDY.
func (f *forwarder) dialer(namespace, pod string) (httpstream.Dialer, error) {
	url := f.rest.Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(f.config)
	if err != nil {
		return nil, fmt.Errorf("forward a port: %w", err)
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	current, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, f.config)
	if err != nil {
		return nil, fmt.Errorf("forward a port: %w", err)
	}
	return portforward.NewFallbackDialerForStreaming(current, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// newClient returns a client that reaches an endpoint at an address, verifies it and presents the user's credentials: the
// token or the client certificate of the kubeconfig.
func newClient(config *rest.Config, endpoint live.Endpoint, address string) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(endpoint.CA)) {
		return nil, unavailable("The leader's Lease has no CA.")
	}
	verified := &tls.Config{RootCAs: roots, ServerName: session.ServerName, MinVersion: tls.VersionTLS13}
	own, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("read the credentials of the kubeconfig: %w", err)
	}
	if own != nil {
		verified.Certificates, verified.GetClientCertificate = own.Certificates, own.GetClientCertificate
	}
	var dial net.Dialer
	transport, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig: verified,
		// No proxy of the environment: the port is local.
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial.DialContext(ctx, network, address)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the credentials of the kubeconfig: %w", err)
	}
	return &http.Client{Transport: transport}, nil
}
