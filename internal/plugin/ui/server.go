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
	"net/url"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/door"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/html"
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
	// answerTimeout bounds the time in which a page is made and sent. Each event of a stream has a time of its own.
	answerTimeout = time.Minute
	stopTimeout   = 2 * time.Second
	// maxHeader bounds the header of a request, in bytes: it may have a bearer token.
	maxHeader = 64 << 10
)

// App serves the pages with the rights of one user.
type App struct {
	client client.WithWatch
	// namespace takes new objects whose manifest names none.
	namespace string
	scope     Scope
	// csrf is the token that a form must have. user is the name to show; empty on the user's own machine.
	csrf, user       string
	runs, benchmarks *store
	windows          *windows
	now              func() time.Time
}

// Scope selects the objects that pages list and watch.
type Scope struct {
	// Namespace is empty for all.
	Namespace string
	// run and benchmark name the object that a page is about. Then the lists have that object alone, and the runs of that Benchmark.
	run, benchmark string
}

// scopeOf returns what the page of a request has to read: the object of its path, or the namespace of its query.
func scopeOf(r *http.Request) Scope {
	if path := strings.Split(r.URL.Path, "/"); len(path) >= 4 {
		switch path[1] {
		case "runs":
			return Scope{Namespace: path[2], run: path[3]}
		case "benchmarks":
			return Scope{Namespace: path[2], benchmark: path[3]}
		}
	}
	return Scope{Namespace: r.URL.Query().Get("namespace")}
}

// NewApp returns the pages with the rights of a client's user. New objects get the namespace.
func NewApp(c client.WithWatch, namespace string, scope Scope) *App {
	s := &App{client: c, namespace: namespace, scope: scope, csrf: rand.Text(), now: time.Now, windows: &windows{}}
	runs, benchmarks := client.ListOptions{Namespace: scope.Namespace}, client.ListOptions{Namespace: scope.Namespace}
	switch {
	case scope.run != "":
		runs.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, scope.run)
	case scope.benchmark != "":
		runs.LabelSelector = labels.SelectorFromSet(labels.Set{benchmark.LabelBenchmark: scope.benchmark})
		benchmarks.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, scope.benchmark)
	}
	s.runs = newStore(c, cluster.BenchmarkRun, runs, &v1alpha1.BenchmarkRun{}, func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} }, func(o any) {
		if run, is := o.(*v1alpha1.BenchmarkRun); is {
			s.windows.see(run)
		}
	})
	s.benchmarks = newStore(c, cluster.Benchmark, benchmarks, &v1alpha1.Benchmark{}, func() client.ObjectList { return &v1alpha1.BenchmarkList{} }, func(any) {})
	return s
}

// in returns a client with a namespace.
func (s *App) in(namespace string) *cluster.Cluster {
	return &cluster.Cluster{WithWatch: s.client, Namespace: namespace}
}

// ready waits until stores have what the cluster has, or why they don't. Those that aren't filled yet are until the context ends.
func ready(ctx context.Context, stores ...*store) {
	for _, one := range stores {
		one.start(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, slowTimeout)
	defer cancel()
	for _, one := range stores {
		one.ready(ctx)
	}
}

// serve serves on a listener until the context ends.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	httpServer := &http.Server{
		Handler: withBounds(handler), ReadHeaderTimeout: headerTimeout, ReadTimeout: formTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }, Protocols: new(http.Protocols),
		ErrorLog: door.ErrorLog(os.Stderr),
	}
	httpServer.Protocols.SetHTTP1(true) // each stream of HTTP/2 would be a request of its own
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

// withBounds refuses the bodies of requests that need none. The connection of another body ends with its answer, which may come before the body was read.
func withBounds(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			if r.Method != http.MethodPost {
				http.Error(w, "A request that isn't a form must not have a body.", http.StatusRequestEntityTooLarge)
				return
			}
		}
		handler.ServeHTTP(w, r)
	})
}

// assetsHandler serves the script and the styles of the pages, among them the colors of reports.
func assetsHandler() http.Handler {
	files, err := fs.Sub(assets, "assets")
	must(err)
	mux := http.NewServeMux()
	mux.Handle("/assets/", http.StripPrefix("/assets/", http.FileServerFS(files)))
	bar, err := fs.ReadFile(files, "bar.css")
	must(err)
	for name, text := range map[string]string{"colors.css": plot.StyleSheet(), "report.css": html.StyleSheet() + string(bar), "timeline.js": html.Script()} {
		mux.HandleFunc("/assets/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, name, time.Time{}, strings.NewReader(text))
		})
	}
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
	mux.HandleFunc("GET /benchmarks", s.benchmarkList)
	mux.HandleFunc("GET /benchmarks/{namespace}/{name}", s.benchmark)
	mux.HandleFunc("GET /benchmarks/{namespace}/{name}/events", s.benchmarkEvents)
	mux.HandleFunc("GET /benchmarks/{namespace}/{name}/report", s.roundReport)
	mux.HandleFunc("GET /new", s.create)
	mux.HandleFunc("POST /new", s.create)
	for _, kind := range []string{"runs", "benchmarks"} {
		mux.HandleFunc("GET /"+kind+"/{namespace}/{name}/again", s.confirmAgain(kind))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/again", s.again(kind))
		mux.HandleFunc("GET /"+kind+"/{namespace}/{name}/delete", s.confirmDelete(kind))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/delete", s.delete(kind))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/suspend", s.suspend(kind, true))
		mux.HandleFunc("POST /"+kind+"/{namespace}/{name}/resume", s.suspend(kind, false))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.message(w, http.StatusNotFound, notice{"Not found", "There is no page " + r.URL.Path + "."})
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
	// Scope says which namespaces the lists have. Query makes a link to a list show the same; empty on the user's own machine,
	// where they always have these.
	Scope, Query string
	// Namespace is that of the lists, empty for all.
	Namespace string
	// User names the user, empty on the user's own machine.
	User   string
	Notice notice
}

func (s *App) page(title, section string) page {
	p := page{Title: title, Section: section, CSRF: s.csrf, Scope: "all namespaces", Namespace: s.scope.Namespace, User: s.user}
	if s.scope.Namespace != "" {
		p.Scope = "namespace " + s.scope.Namespace
		if s.user != "" {
			p.Query = "?" + url.Values{"namespace": {s.scope.Namespace}}.Encode()
		}
	}
	return p
}

// message answers with a page that has nothing but a notice.
func (s *App) message(w http.ResponseWriter, status int, n notice) {
	p := s.page(n.Title, "")
	p.Notice = n
	render(w, status, "message", p)
}

// render answers with a page.
func render(w http.ResponseWriter, status int, name string, data any) {
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
