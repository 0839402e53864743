package plugin_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path"
	"strconv"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	runsPath       = "/apis/assay.dev/v1alpha1/namespaces/default/benchmarkruns"
	benchmarksPath = "/apis/assay.dev/v1alpha1/namespaces/default/benchmarks"
	configMapsPath = "/api/v1/namespaces/default/configmaps/"
)

// apiServer is a fake API server for the tests of the plugin. It holds one BenchmarkRun, one Benchmark and one
// ConfigMap in the namespace default, and supports get, list, watch, merge patches, and of Benchmarks create and delete. It can be stopped and
// restarted at the same address.
type apiServer struct {
	t       *testing.T
	address string

	server *http.Server

	mutex sync.Mutex
	// objects holds the run and the Benchmark by the paths of their kinds.
	objects map[string]client.Object
	// operator changes the Benchmark after a patch; nil for a server without an operator.
	operator  func(*v1alpha1.Benchmark)
	configMap *corev1.ConfigMap
	// others holds what else the server answers, by path.
	others    map[string]any
	rejection *apierrors.StatusError
	// history holds all events. Each of them raised the version by one from firstVersion.
	history []event
	// changed is closed and replaced when the history grows, ended by EndWatches.
	changed, ended chan struct{}
}

const firstVersion = 100

type event struct {
	Type   string        `json:"type"`
	Object client.Object `json:"object"`
	path   string
}

// startAPIServer starts a server without objects. It is stopped at the end of the test.
func startAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{t: t, address: "127.0.0.1:0", objects: map[string]client.Object{}, changed: make(chan struct{}), ended: make(chan struct{})}
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
	if run == nil {
		s.set(runsPath, nil)
		return
	}
	run = run.DeepCopy()
	run.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun"}
	s.set(runsPath, run)
}

// SetBenchmark creates or updates the Benchmark.
func (s *apiServer) SetBenchmark(b *v1alpha1.Benchmark) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.setBenchmark(b)
}

func (s *apiServer) setBenchmark(b *v1alpha1.Benchmark) {
	b = b.DeepCopy()
	b.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Benchmark"}
	s.set(benchmarksPath, b)
}

// Operator sets what changes the Benchmark after each patch, as the operator does.
func (s *apiServer) Operator(operator func(*v1alpha1.Benchmark)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.operator = operator
}

// Benchmark returns the Benchmark as it is.
func (s *apiServer) Benchmark() *v1alpha1.Benchmark {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.objects[benchmarksPath].(*v1alpha1.Benchmark).DeepCopy()
}

func (s *apiServer) set(path string, object client.Object) {
	e := event{Type: "DELETED", Object: s.objects[path], path: path}
	if object != nil {
		e = event{Type: "MODIFIED", Object: object, path: path}
		if s.objects[path] == nil {
			e.Type = "ADDED"
		}
	}
	s.history = append(s.history, e)
	delete(s.objects, path)
	if object != nil {
		object.SetNamespace("default")
		object.SetResourceVersion(s.version())
		s.objects[path] = object
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// SetConfigMap creates or replaces the ConfigMap, or deletes it when configMap is nil.
func (s *apiServer) SetConfigMap(configMap *corev1.ConfigMap) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.configMap = configMap
}

// Answer makes the server answer a path with an object, or as not found if object is nil.
func (s *apiServer) Answer(path string, object any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.others == nil {
		s.others = map[string]any{}
	}
	s.others[path] = object
}

// Reject makes the server answer every request with err, or as usual again when err is nil.
func (s *apiServer) Reject(err *apierrors.StatusError) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.rejection = err
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	rejection, configMap, version := s.rejection, s.configMap, s.version()
	collection, name := r.URL.Path, ""
	if collection != runsPath && collection != benchmarksPath {
		collection, name = path.Dir(r.URL.Path), path.Base(r.URL.Path)
	}
	object, other := s.objects[collection], s.others[r.URL.Path]
	s.mutex.Unlock()
	switch {
	case rejection != nil:
		answer(w, int(rejection.ErrStatus.Code), status(rejection))
	case other != nil:
		code := http.StatusOK
		if refusal, is := other.(*apierrors.StatusError); is {
			code, other = int(refusal.ErrStatus.Code), status(refusal)
		}
		answer(w, code, other)
	case r.Method == http.MethodPost && r.URL.Query().Get("dryRun") == "All":
		var object any
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
			s.t.Error(err)
		}
		answer(w, http.StatusCreated, object)
	case r.Method == http.MethodPost && name == "":
		s.create(w, r)
	case name == "" && r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case name == "":
		kind := map[string]string{runsPath: "BenchmarkRunList", benchmarksPath: "BenchmarkList"}[collection]
		items := []client.Object{}
		if selector := r.URL.Query().Get("fieldSelector"); object != nil && (selector == "" || selector == "metadata.name="+object.GetName()) {
			items = append(items, object)
		}
		answer(w, http.StatusOK, map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": metav1.ListMeta{ResourceVersion: version}, "items": items,
		})
	case object == nil && r.Method == http.MethodPatch && r.Header.Get("Content-Type") == "application/apply-patch+yaml":
		s.create(w, r)
	case object != nil && name == object.GetName() && r.Method == http.MethodDelete:
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.set(collection, nil)
		answer(w, http.StatusOK, object)
	case object != nil && name == object.GetName() && r.Method == http.MethodPatch:
		s.patch(w, r)
	case object != nil && name == object.GetName():
		answer(w, http.StatusOK, object)
	case configMap != nil && r.URL.Path == configMapsPath+configMap.Name:
		answer(w, http.StatusOK, configMap)
	default:
		answer(w, http.StatusNotFound, status(apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, r.URL.Path)))
	}
}

// create creates the Benchmark, unless there is one of its name.
func (s *apiServer) create(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	b := &v1alpha1.Benchmark{}
	if err := json.NewDecoder(r.Body).Decode(b); err != nil {
		s.t.Error(err)
	}
	if b.Name == "" {
		b.Name = b.GenerateName + "x7k2p"
	}
	if old := s.objects[benchmarksPath]; old != nil && old.GetName() == b.Name {
		answer(w, http.StatusConflict, status(apierrors.NewAlreadyExists(schema.GroupResource{Resource: "benchmarks"}, b.Name)))
		return
	}
	b.UID, b.Generation, b.Status.ObservedGeneration = types.UID("uid-of-"+b.Name), 1, ptr.To(int64(-1))
	s.setBenchmark(b)
	answer(w, http.StatusCreated, b)
}

// patch merges a patch into the Benchmark.
func (s *apiServer) patch(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, err := json.Marshal(s.objects[benchmarksPath])
	if err != nil {
		s.t.Error(err)
	}
	patch, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		s.t.Error(err)
	}
	b := &v1alpha1.Benchmark{}
	if err := json.Unmarshal(after, b); err != nil {
		s.t.Error(err)
	}
	if r.URL.Query().Get("dryRun") == "" {
		if s.operator != nil {
			s.operator(b)
		}
		s.setBenchmark(b)
	}
	answer(w, http.StatusOK, b)
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
			if e.path == r.URL.Path && json.NewEncoder(w).Encode(e) != nil {
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
