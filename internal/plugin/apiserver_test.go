package plugin_test

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	runsPath       = "/apis/assay.dev/v1alpha1/namespaces/default/benchmarkruns"
	configMapsPath = "/api/v1/namespaces/default/configmaps/"
)

// apiServer is a fake API server for the tests of the plugin. It holds one BenchmarkRun and one
// ConfigMap in the namespace default, and supports get, list and watch. It can be stopped and
// restarted at the same address.
type apiServer struct {
	t       *testing.T
	address string

	server *http.Server

	mutex     sync.Mutex
	run       *v1alpha1.BenchmarkRun
	configMap *corev1.ConfigMap
	rejection *apierrors.StatusError
	// history holds all events. Each of them raised the version by one from firstVersion.
	history []event
	// changed is closed and replaced when the history grows, ended by EndWatches.
	changed, ended chan struct{}
}

const firstVersion = 100

type event struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// startAPIServer starts a server without objects. It is stopped at the end of the test.
func startAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{t: t, address: "127.0.0.1:0", changed: make(chan struct{}), ended: make(chan struct{})}
	s.Up()
	t.Cleanup(s.Down)
	return s
}

// URL returns the server's URL.
func (s *apiServer) URL() string { return "http://" + s.address }

// Up starts the server again at the same address after Down.
func (s *apiServer) Up() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	s.server = server
}

// Down stops the server and closes its connections.
func (s *apiServer) Down() {
	if err := s.server.Close(); err != nil {
		s.t.Error(err)
	}
}

// EndWatches ends all watches, as an API server does when they time out.
func (s *apiServer) EndWatches() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	close(s.ended)
	s.ended = make(chan struct{})
}

// version returns the version of the latest event.
func (s *apiServer) version() string { return strconv.Itoa(firstVersion + len(s.history)) }

// SetRun creates or updates the run, or deletes it when run is nil.
func (s *apiServer) SetRun(run *v1alpha1.BenchmarkRun) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.history = append(s.history, event{Type: "DELETED", Object: s.run})
	if run != nil {
		e := &s.history[len(s.history)-1]
		e.Type = "MODIFIED"
		if s.run == nil {
			e.Type = "ADDED"
		}
		run = run.DeepCopy()
		run.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun"}
		run.Namespace, run.ResourceVersion = "default", s.version()
		e.Object = run
	}
	s.run = run
	close(s.changed)
	s.changed = make(chan struct{})
}

// SetConfigMap creates or replaces the ConfigMap, or deletes it when configMap is nil.
func (s *apiServer) SetConfigMap(configMap *corev1.ConfigMap) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.configMap = configMap
}

// Reject makes the server answer every request with err, or as usual again when err is nil.
func (s *apiServer) Reject(err *apierrors.StatusError) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.rejection = err
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	rejection, run, configMap, version := s.rejection, s.run, s.configMap, s.version()
	s.mutex.Unlock()
	switch {
	case rejection != nil:
		answer(w, int(rejection.ErrStatus.Code), status(rejection))
	case r.URL.Path == runsPath && r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case r.URL.Path == runsPath:
		list := v1alpha1.BenchmarkRunList{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRunList"},
			ListMeta: metav1.ListMeta{ResourceVersion: version},
		}
		if selector := r.URL.Query().Get("fieldSelector"); run != nil && (selector == "" || selector == "metadata.name="+run.Name) {
			list.Items = []v1alpha1.BenchmarkRun{*run}
		}
		answer(w, http.StatusOK, list)
	case run != nil && r.URL.Path == runsPath+"/"+run.Name:
		answer(w, http.StatusOK, run)
	case configMap != nil && r.URL.Path == configMapsPath+configMap.Name:
		answer(w, http.StatusOK, configMap)
	default:
		answer(w, http.StatusNotFound, status(apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, r.URL.Path)))
	}
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		answer(w, http.StatusBadRequest, status(apierrors.NewBadRequest("no resourceVersion")))
		return
	}
	s.mutex.Lock()
	ended := s.ended
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for next := since - firstVersion; ; {
		s.mutex.Lock()
		events, changed := s.history[next:], s.changed
		s.mutex.Unlock()
		for _, e := range events {
			if json.NewEncoder(w).Encode(e) != nil {
				return
			}
		}
		next += len(events)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-ended:
			return
		case <-changed:
		}
	}
}

// status returns the Status object of an error, as the API server sends it.
func status(err *apierrors.StatusError) metav1.Status {
	s := err.Status()
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return s
}

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}
