package ui

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/plugin/cluster"
)

//go:embed assets
var assets embed.FS

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{"count": func(n int) string { return count(int64(n)) }}).ParseFS(pageFiles, "pages/*.html"))

const (
	headerTimeout = 10 * time.Second
	stopTimeout   = 2 * time.Second
)

// Streamer streams a running measurement, as Source in internal/plugin/live.
type Streamer interface {
	Follow(ctx context.Context, namespace, name string, f func(*live.Update) error) error
}

// app serves the pages with the rights of one user.
type app struct {
	client client.WithWatch
	// namespace is where new objects are created if their manifest doesn't say; scope that of the lists, empty for all.
	namespace, scope string
	live             Streamer
	guard            *guard
	runs, benchmarks *store
	now              func() time.Time
}

func newServer(c client.WithWatch, namespace, scope string, streamer Streamer, address net.Addr) *app {
	return &app{
		client: c, namespace: namespace, scope: scope, live: streamer, guard: newGuard(address), now: time.Now,
		runs:       newStore(c, cluster.BenchmarkRun, scope, &v1alpha1.BenchmarkRun{}, func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} }),
		benchmarks: newStore(c, cluster.Benchmark, scope, &v1alpha1.Benchmark{}, func() client.ObjectList { return &v1alpha1.BenchmarkList{} }),
	}
}

// in returns a client with a namespace.
func (s *app) in(namespace string) *cluster.Cluster {
	return &cluster.Cluster{WithWatch: s.client, Namespace: namespace}
}

// serve serves on a listener until the context ends.
func (s *app) serve(ctx context.Context, listener net.Listener) error {
	go s.runs.run(ctx)
	go s.benchmarks.run(ctx)
	httpServer := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if httpServer.Shutdown(ending) != nil {
			_ = httpServer.Close()
		}
	})
	err := httpServer.Serve(listener)
	if stop() {
		return err
	}
	<-stopped
	return nil
}

func (s *app) handler() http.Handler {
	mux := http.NewServeMux()
	files, err := fs.Sub(assets, "assets")
	must(err)
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(files)))
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /events", s.listEvents)
	mux.HandleFunc("GET /runs/{namespace}/{name}", s.run)
	mux.HandleFunc("GET /runs/{namespace}/{name}/events", s.runEvents)
	mux.HandleFunc("GET /runs/{namespace}/{name}/report", s.report)
	mux.HandleFunc("GET /compare", s.compare)
	mux.HandleFunc("GET /compare/report", s.comparison)
	mux.HandleFunc("GET /benchmarks", s.benchmarkList)
	mux.HandleFunc("GET /benchmarks/{namespace}/{name}", s.benchmark)
	mux.HandleFunc("GET /benchmarks/{namespace}/{name}/events", s.benchmarkEvents)
	mux.HandleFunc("GET /benchmarks/{namespace}/{name}/report", s.roundReport)
	mux.HandleFunc("GET /new", s.create)
	mux.HandleFunc("POST /new", s.create)
	for _, kind := range []string{"runs", "benchmarks"} {
		mux.HandleFunc("GET /"+kind+"/{namespace}/{name}/delete", s.confirmDelete(kind))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/delete", s.delete(kind))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/suspend", s.suspend(kind, true))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/resume", s.suspend(kind, false))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.message(w, r, http.StatusNotFound, notice{"Not found", "There is no page " + r.URL.Path + "."})
	})
	return s.guard.protect(mux)
}

// page is what every page has.
type page struct {
	Title string
	// Section is the entry of the navigation that the page belongs to.
	Section string
	// Events is the path of the page's server-sent events; empty for a page that doesn't change.
	Events string
	CSRF   string
	Scope  string
	Notice notice
}

func (s *app) page(title, section string) page {
	scope := "all namespaces"
	if s.scope != "" {
		scope = "namespace " + s.scope
	}
	return page{Title: title, Section: section, CSRF: s.guard.csrf, Scope: scope}
}

// message answers with a page that has nothing but a notice.
func (s *app) message(w http.ResponseWriter, r *http.Request, status int, n notice) {
	p := s.page(n.Title, "")
	p.Notice = n
	render(w, r, status, "message", p)
}

// render answers with a page.
func render(w http.ResponseWriter, _ *http.Request, status int, name string, data any) {
	text, err := execute(name, data)
	if err != nil {
		http.Error(w, "The page can't be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the browser may have gone
}

// execute returns a page, or a part of one.
func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}
