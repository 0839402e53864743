package live

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/session"
)

// kubelet forwards ports to those of this machine, as API server and kubelet do together. It doesn't speak WebSocket, like
// those before Kubernetes 1.31. Each value of cut ends a forwarding.
func kubelet(t *testing.T, cut <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "no WebSocket here", http.StatusBadRequest)
			return
		}
		if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
			t.Error(err)
			return
		}
		connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
			go func() {
				defer func() { _ = stream.Close() }()
				if stream.Headers().Get(corev1.StreamType) != corev1.StreamTypeData {
					return // no error to report
				}
				to, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", stream.Headers().Get(corev1.PortHeader)))
				if err != nil {
					t.Error(err)
					return
				}
				go func() {
					_, _ = io.Copy(to, stream)
					_ = to.Close()
				}()
				_, _ = io.Copy(stream, to)
			}()
			return nil
		})
		if connection == nil {
			return
		}
		select {
		case <-connection.CloseChan():
		case <-cut:
			_ = connection.Close()
		}
	}
}

// TestForward follows a run through a forwarded port, from the Lease to the last update, and again after the forwarding was
// cut off.
func TestForward(t *testing.T) {
	cut := make(chan struct{})
	apiServer := httptest.NewServer(kubelet(t, cut))
	defer apiServer.Close()
	o := newOperator(t)
	o.source.config.Host = apiServer.URL
	f, err := newForwarder(o.source.config)
	if err != nil {
		t.Fatal(err)
	}
	o.source.forward = f.forward
	l := newLeader(t, session.ServerName, stream(t, live.Update{UID: "u", Seconds: at(0)}, live.Update{UID: "u", From: 1, Seconds: at(1), State: "Finished"}))
	o.lead("manager-1", l)
	for range 2 {
		var passed int64
		err := o.source.Follow(t.Context(), "shop", "demo", func(u *live.Update) error {
			passed = u.Passed()
			return nil
		})
		if err != nil || passed != 2 {
			t.Fatalf("%d seconds, %v", passed, err)
		}
		cut <- struct{}{}
		<-o.source.path.ended
	}
}

// TestForwardRefused checks that an API server without the leader's pod is an obstacle, not a failure.
func TestForwardRefused(t *testing.T) {
	apiServer := httptest.NewServer(http.NotFoundHandler())
	defer apiServer.Close()
	f, err := newForwarder(&rest.Config{Host: apiServer.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = f.forward(t.Context(), "assay-system", "manager-1", live.DefaultPort)
	var unavailable *Unavailable
	if !errors.As(err, &unavailable) || unavailable.Denied {
		t.Errorf("%v", err)
	}
}
