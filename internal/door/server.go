package door

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

const (
	// maxHeaderBytes bounds the header of a request. A token of a service account has about 1 KiB. net/http reads 4 KiB
	// more before it refuses.
	maxHeaderBytes = 8 << 10
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	// idleTimeout is longer than the usual intervals of probes and scrapes.
	idleTimeout = 90 * time.Second
)

// NewServer returns a server of requests without a body, such as GET, over HTTP/1. Its connections are to come from Listen.
func NewServer(handler http.Handler) *http.Server {
	server := &http.Server{
		Handler: withoutBody(handler), MaxHeaderBytes: maxHeaderBytes, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, Protocols: new(http.Protocols), ErrorLog: ErrorLog(os.Stderr),
	}
	server.Protocols.SetHTTP1(true) // each stream of HTTP/2 would be a request of its own
	return server
}

// ErrorLog returns the log of an http.Server, without the handshakes that fail: anybody makes as many as they like.
func ErrorLog(w io.Writer) *log.Logger { return log.New(withoutHandshakes{w}, "", log.LstdFlags) }

type withoutHandshakes struct{ io.Writer }

// Write implements io.Writer for one line.
func (w withoutHandshakes) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("TLS handshake error")) {
		return len(line), nil
	}
	return w.Writer.Write(line)
}

func withoutBody(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ContentLength != 0:
			w.Header().Set("Connection", "close") // else the server reads on for the next request
			http.Error(w, "A request must not have a body.", http.StatusRequestEntityTooLarge)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The method must be GET or HEAD.", http.StatusMethodNotAllowed)
		default:
			handler.ServeHTTP(w, r)
		}
	})
}

// Health answers the kubelet's probes: /healthz with success, and /readyz with the error of ready, if it returns one.
func Health(ready func() error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok"))
	})
	return mux
}
