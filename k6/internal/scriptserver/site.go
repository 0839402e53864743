package scriptserver

import (
	"compress/gzip"
	"crypto/md5" //nolint:gosec // Digest authentication (RFC 7616) has it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// maxUpload bounds the memory for the files of an upload, in bytes.
const maxUpload = 1 << 20

// site is the handler of all HTTP requests.
type site struct {
	mux *http.ServeMux

	mu       sync.Mutex
	requests map[string]int // by method and path
	orders   int            // orders that were placed
	failures map[string]int // failures so far by the key of /flaky
}

func newSite() *site {
	s := &site{mux: http.NewServeMux(), requests: map[string]int{}, failures: map[string]int{}}
	for pattern, handler := range map[string]http.HandlerFunc{
		"/":              home,
		"GET /get":       echo,
		"POST /post":     echo,
		"PUT /put":       echo,
		"PATCH /patch":   echo,
		"DELETE /delete": echo,
		"/anything/":     echo,
		"GET /json": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{"items": []int{1, 2, 3}, "ok": true})
		},
		"GET /items/{id}":                item,
		"GET /cookies":                   func(w http.ResponseWriter, r *http.Request) { answerCookies(w, r.Cookies()) },
		"GET /cookies/set":               setCookies,
		"GET /redirect/{n}":              redirect,
		"GET /status/{code}":             status,
		"GET /delay/{milliseconds}":      delay,
		"GET /bytes/{n}":                 bytes,
		"GET /gzip":                      compressed,
		"GET /flaky/{key}":               s.flaky,
		"GET /basic-auth/user/passwd":    basic,
		"/digest-auth/auth/user/passwd":  digest,
		"POST /login":                    login,
		"GET /orders":                    authorized(func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]any{"orders": []string{}}) }),
		"POST /orders":                   authorized(s.order),
		"POST /upload":                   upload,
		"POST /graphql":                  graphql,
		"GET /client-certificate":        clientCertificate,
		"GET /lib/random.js":             library,
		"GET /ws":                        echoMessages,
		"GET /ws/subprotocol/{protocol}": echoMessages,
	} {
		s.mux.HandleFunc(pattern, handler)
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests[r.Method+" "+r.URL.Path]++
	s.mu.Unlock()
	s.mux.ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what)
}

// home answers with a page that has a link and a form.
func home(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, `<html><head><title>Shop</title></head><body><h1>Shop</h1><a href="/json">Items</a>
<form method="post" action="/post"><input name="user" value="guest"><input type="hidden" name="csrf" value="c5rf"><input type="submit"></form></body></html>`)
}

// item answers with an item, of which there are a hundred.
func item(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id < 1 || id > 100 {
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
		return
	}
	answer(w, map[string]any{"id": id, "name": fmt.Sprintf("item %d", id), "price": float64(id) + 0.5})
}

func answerCookies(w http.ResponseWriter, cookies []*http.Cookie) {
	all := map[string]string{}
	for _, cookie := range cookies {
		all[cookie.Name] = cookie.Value
	}
	answer(w, map[string]any{"cookies": all})
}

// setCookies sets the cookies in the query and redirects to the page that shows them.
func setCookies(w http.ResponseWriter, r *http.Request) {
	for name, values := range r.URL.Query() {
		http.SetCookie(w, &http.Cookie{Name: name, Value: values[0], Path: "/"})
	}
	http.Redirect(w, r, "/cookies", http.StatusFound)
}

// redirect redirects n times.
func redirect(w http.ResponseWriter, r *http.Request) {
	if n, err := strconv.Atoi(r.PathValue("n")); err == nil && n > 1 {
		http.Redirect(w, r, "/redirect/"+strconv.Itoa(n-1), http.StatusFound)
		return
	}
	http.Redirect(w, r, "/get", http.StatusFound)
}

func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 599 {
		code = http.StatusBadRequest
	}
	w.WriteHeader(code)
}

// delay answers after some time, or when the client has gone.
func delay(w http.ResponseWriter, r *http.Request) {
	milliseconds, err := strconv.Atoi(r.PathValue("milliseconds"))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(time.Duration(milliseconds) * time.Millisecond):
		answer(w, map[string]any{"delay": milliseconds})
	case <-r.Context().Done():
	}
}

func bytes(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 || n > maxUpload {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, strings.Repeat("x", n))
}

func compressed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "application/json")
	to := gzip.NewWriter(w)
	_, _ = io.WriteString(to, `{"gzipped":true}`)
	_ = to.Close()
}

// flaky fails twice for each key before it succeeds.
func (s *site) flaky(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.failures[r.PathValue("key")]++
	failures := s.failures[r.PathValue("key")]
	s.mu.Unlock()
	if failures <= 2 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	answer(w, map[string]any{"ok": true})
}

func basic(w http.ResponseWriter, r *http.Request) {
	if user, password, ok := r.BasicAuth(); !ok || user != "user" || password != "passwd" {
		w.Header().Set("WWW-Authenticate", `Basic realm="Fake Realm"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer(w, map[string]any{"authenticated": true, "user": "user"})
}

// token is what login returns and authorized requires.
const token = "t0k3n"

// login answers with a token to a user in JSON or in a form.
func login(w http.ResponseWriter, r *http.Request) {
	credentials := struct{ Username, Password string }{r.PostFormValue("username"), r.PostFormValue("password")}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		_ = json.NewDecoder(r.Body).Decode(&credentials) // credentials stay empty for other bodies
	}
	if credentials.Username == "" || credentials.Password != "passwd" {
		w.WriteHeader(http.StatusUnauthorized)
		answer(w, map[string]any{"error": "wrong credentials"})
		return
	}
	answer(w, map[string]any{"token": token, "user": credentials.Username})
}

// authorized lets requests with the token pass.
func authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// order places an order.
func (s *site) order(w http.ResponseWriter, r *http.Request) {
	var order map[string]any
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.orders++
	id := s.orders
	s.mu.Unlock()
	w.Header().Set("Location", "/orders/"+strconv.Itoa(id))
	w.WriteHeader(http.StatusCreated)
	answer(w, map[string]any{"id": id, "order": order})
}

// upload answers with the sizes of the files and the fields of a form.
func upload(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(maxUpload); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	files := map[string]map[string]any{}
	for field, headers := range r.MultipartForm.File {
		files[field] = map[string]any{"name": headers[0].Filename, "size": headers[0].Size, "type": headers[0].Header.Get("Content-Type")}
	}
	answer(w, map[string]any{"files": files, "fields": r.MultipartForm.Value})
}

// graphql answers the query for an item by its id.
func graphql(w http.ResponseWriter, r *http.Request) {
	var query struct {
		Query     string
		Variables struct{ ID int }
	}
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil || !strings.Contains(query.Query, "item") {
		answer(w, map[string]any{"errors": []map[string]string{{"message": "unknown query"}}})
		return
	}
	answer(w, map[string]any{"data": map[string]any{"item": map[string]any{"id": query.Variables.ID}}})
}

// clientCertificate reports whether the client sent a certificate, and the protocol.
func clientCertificate(w http.ResponseWriter, r *http.Request) {
	answer(w, map[string]any{"certificate": r.TLS != nil && len(r.TLS.PeerCertificates) > 0, "protocol": r.Proto})
}

// library answers with a module for scripts that load one from a server.
func library(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/javascript")
	_, _ = io.WriteString(w, "export function randomItem(items) { return items[Math.floor(Math.random() * items.length)] }\n")
}

// echoMessages echoes WebSocket messages until the client closes the connection.
func echoMessages(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{}
	if protocol := r.PathValue("protocol"); protocol != "" {
		upgrader.Subprotocols = []string{protocol}
	}
	connection, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer func() { _ = connection.Close() }()
	for {
		kind, message, err := connection.ReadMessage()
		if err != nil {
			return
		}
		if err := connection.WriteMessage(kind, message); err != nil {
			return
		}
	}
}

// echo answers with the request as JSON, as httpbin.org does.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	args, form, headers := map[string]string{}, map[string]any{}, map[string]string{}
	for name, values := range r.URL.Query() {
		args[name] = values[0]
	}
	for name, values := range r.Header {
		headers[name] = values[0]
	}
	if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := r.ParseForm(); err == nil {
			for name, values := range r.PostForm {
				form[name] = values[0]
				if len(values) > 1 {
					form[name] = values
				}
			}
		}
	}
	var asJSON any
	_ = json.Unmarshal(body, &asJSON) // asJSON stays nil for other bodies
	answer(w, map[string]any{
		"args": args, "form": form, "headers": headers, "data": string(body), "json": asJSON, "url": "http://" + r.Host + r.URL.String(),
	})
}

var digestField = regexp.MustCompile(`(\w+)="?([^",]*)"?`)

// digest checks Digest authentication as user with passwd (RFC 7616, section
// 3.4.1).
func digest(w http.ResponseWriter, r *http.Request) {
	fields := map[string]string{}
	for _, m := range digestField.FindAllStringSubmatch(strings.TrimPrefix(r.Header.Get("Authorization"), "Digest "), -1) {
		fields[m[1]] = m[2]
	}
	hash := func(parts ...string) string {
		sum := md5.Sum([]byte(strings.Join(parts, ":"))) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}
	ha1, ha2 := hash("user", fields["realm"], "passwd"), hash(r.Method, fields["uri"])
	if fields["response"] == "" || fields["response"] != hash(ha1, fields["nonce"], fields["nc"], fields["cnonce"], fields["qop"], ha2) {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Digest realm="test", nonce=%q, qop="auth", opaque="0", algorithm=MD5`, hash("nonce")))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer(w, map[string]any{"authenticated": true, "user": "user"})
}
