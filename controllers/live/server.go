// Package live streams the figures of running measurements to users who may read the run. It serves on the loopback
// interface of the leader's pod, which users reach through a forwarded port.
package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
)

const (
	// maxConnections bounds the connections, most of which are viewers'.
	maxConnections = 2 * maxViewers
	// authenticationRate bounds the requests per second that are authenticated, authenticationBurst those at once: each
	// may take two calls to the API server.
	authenticationRate  = 10
	authenticationBurst = 100
	// maxHeaderBytes bounds a request's headers: a token and little more.
	maxHeaderBytes = 32 << 10
	headerTimeout  = 10 * time.Second
	// writeTimeout ends the stream of a viewer that doesn't read.
	writeTimeout = 10 * time.Second
	// maxStream is the longest duration of a stream. The viewer's rights are checked again when it comes back.
	maxStream = 10 * time.Minute
)

var errNotFound = errors.New("the run doesn't exist")

// Reader reads runs.
type Reader interface {
	Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error
}

// Server is the endpoint. Its fields must be set before Serve is called.
type Server struct {
	Sessions Sessions
	// Runs reads runs, from a cache.
	Runs Reader
	// Access decides who may view a run.
	Access Access
	Log    logr.Logger

	hub   *hub
	limit *rate.Limiter
}

// get implements getRun.
func (s *Server) get(ctx context.Context, name types.NamespacedName) (*v1alpha1.BenchmarkRun, error) {
	run := &v1alpha1.BenchmarkRun{}
	switch err := s.Runs.Get(ctx, name, run); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the run: %w", err)
	}
	return run, nil
}

// Serve serves on a listener until the context ends, and closes the listener. Only the leader may call it, once.
func (s *Server) Serve(ctx context.Context, listener net.Listener, config *tls.Config) error {
	config = config.Clone()
	config.ClientAuth = tls.RequestClientCert // verified by Access
	server := &http.Server{
		Handler: s.handler(), TLSConfig: config, ReadHeaderTimeout: headerTimeout, IdleTimeout: headerTimeout, MaxHeaderBytes: maxHeaderBytes,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // a connection has one stream
		BaseContext:  func(net.Listener) context.Context { return ctx },
		ErrorLog:     quiet(s.Log),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.ServeTLS(netutil.LimitListener(listener, maxConnections), "", "")
	if ctx.Err() == nil {
		return fmt.Errorf("serve live figures: %w", err)
	}
	return nil
}

func (s *Server) handler() http.Handler {
	s.hub = newHub(s.Sessions, s.get, s.Log)
	s.limit = rate.NewLimiter(authenticationRate, authenticationBurst)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+live.Path("{namespace}", "{name}"), s.view)
	return mux
}

// view streams the updates of a run. It says nothing of a run before the caller may read it, not even whether it exists.
func (s *Server) view(w http.ResponseWriter, r *http.Request) {
	name := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	if !s.limit.Allow() {
		refuse(w, http.StatusTooManyRequests, "there are too many requests at present")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxStream)
	defer cancel()
	user, status, err := s.Access.Check(r, name)
	if err != nil {
		s.Log.Info("Refused viewer", "run", name, "user", user, "error", err.Error())
		refuse(w, status, err.Error())
		return
	}
	if run, err := s.get(ctx, name); err != nil || run == nil {
		refuse(w, http.StatusNotFound, errNotFound.Error())
		return
	}
	v, leave, err := s.hub.join(name, user)
	if err != nil {
		refuse(w, http.StatusTooManyRequests, err.Error())
		return
	}
	defer leave()
	w.Header().Set("Content-Type", live.ContentType)
	out := http.NewResponseController(w)
	for {
		select {
		case <-ctx.Done():
			return
		case line, more := <-v.lines:
			if !more {
				s.Log.V(1).Info("Ended the stream of a viewer", "run", name, "user", user, "reason", v.err.Error())
				return
			}
			if out.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
				return
			}
			if _, err := w.Write(line); err != nil || out.Flush() != nil {
				return
			}
		}
	}
}

// refuse answers with a reason as text.
func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Connection", "close")
	http.Error(w, reason, status)
}
