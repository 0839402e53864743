package script

import (
	"crypto/md5" //nolint:gosec // Digest authentication (RFC 7616) has it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// httpbin starts a server that behaves like the sites that k6's examples use, as
// far as the examples check it.
func httpbin(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html></html>") })
	for _, method := range []string{"get", "post", "put", "patch", "delete"} {
		mux.HandleFunc(strings.ToUpper(method)+" /"+method, echo)
	}
	mux.HandleFunc("/cookies", func(w http.ResponseWriter, r *http.Request) { answerCookies(w, r.Cookies()) })
	mux.HandleFunc("/cookies/set", func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.URL.Query() {
			http.SetCookie(w, &http.Cookie{Name: name, Value: values[0], Path: "/"})
		}
		http.Redirect(w, r, "/cookies", http.StatusFound)
	})
	mux.HandleFunc("/redirect/{n}", func(w http.ResponseWriter, r *http.Request) {
		if n, err := strconv.Atoi(r.PathValue("n")); err == nil && n > 1 {
			http.Redirect(w, r, "/redirect/"+strconv.Itoa(n-1), http.StatusFound)
			return
		}
		http.Redirect(w, r, "/get", http.StatusFound)
	})
	mux.HandleFunc("/basic-auth/user/passwd", func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "user" || password != "passwd" {
			w.Header().Set("WWW-Authenticate", `Basic realm="Fake Realm"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(w, map[string]any{"authenticated": true, "user": "user"})
	})
	mux.HandleFunc("/digest-auth/auth/user/passwd", digest)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what)
}

func answerCookies(w http.ResponseWriter, cookies []*http.Cookie) {
	all := map[string]string{}
	for _, cookie := range cookies {
		all[cookie.Name] = cookie.Value
	}
	answer(w, map[string]any{"cookies": all})
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
