package ui

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
)

//go:embed assets
var assets embed.FS

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{"count": func(n int) string { return number.Count(int64(n)) }}).ParseFS(pageFiles, "pages/*.html"))

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 2 * time.Second
	// maxHeader bounds the header of a request, in bytes: it may have a bearer token.
	maxHeader = 64 << 10
)

// App serves the pages with the rights of one user.
type App struct {
	client client.WithWatch
	// namespace is where new objects are created if their manifest doesn't say; scope that of the lists, empty for all.
	namespace, scope string
	// csrf is the token that a form must have. user is the name to show; empty on the user's own machine.
	csrf, user       string
	runs, benchmarks *store
	windows          *windows
	now              func() time.Time
}

// NewApp returns the pages with the rights of a client's user. New objects get the namespace; the lists show those of scope, or of all namespaces if it is empty.
func NewApp(c client.WithWatch, namespace, scope string) *App {
	seen := &windows{}
	return &App{
		client: c, namespace: namespace, scope: scope, csrf: rand.Text(), now: time.Now, windows: seen,
		runs: newStore(c, cluster.BenchmarkRun, scope, &v1alpha1.BenchmarkRun{}, func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} }, func(o any) {
			if run, is := o.(*v1alpha1.BenchmarkRun); is {
				seen.see(run)
			}
		}),
		benchmarks: newStore(c, cluster.Benchmark, scope, &v1alpha1.Benchmark{}, func() client.ObjectList { return &v1alpha1.BenchmarkList{} }, func(any) {}),
	}
}

// in returns a client with a namespace.
func (s *App) in(namespace string) *cluster.Cluster {
	return &cluster.Cluster{WithWatch: s.client, Namespace: namespace}
}

// watchCluster fills the lists until the context ends.
func (s *App) watchCluster(ctx context.Context) {
	go s.runs.run(ctx)
	go s.benchmarks.run(ctx)
}

// serve serves on a listener until the context ends.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	httpServer := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx },
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

// assetsHandler serves the script and the styles of the pages, among them the colors of reports.
func assetsHandler() http.Handler {
	files, err := fs.Sub(assets, "assets")
	must(err)
	mux := http.NewServeMux()
	mux.Handle("/assets/", http.StripPrefix("/assets/", http.FileServerFS(files)))
	mux.HandleFunc("/assets/colors.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "colors.css", time.Time{}, strings.NewReader(plot.StyleSheet()))
	})
	return mux
}

// handler returns the pages. Whoever serves them must keep others out, and check the CSRF token of forms.
func (s *App) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", assetsHandler())
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
	return mux
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
	// User names the user who has logged in; empty where nobody has to.
	User   string
	Notice notice
}

func (s *App) page(title, section string) page {
	scope := "all namespaces"
	if s.scope != "" {
		scope = "namespace " + s.scope
	}
	return page{Title: title, Section: section, CSRF: s.csrf, Scope: scope, User: s.user}
}

// message answers with a page that has nothing but a notice.
func (s *App) message(w http.ResponseWriter, r *http.Request, status int, n notice) {
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
