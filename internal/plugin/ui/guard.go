package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// maxManifest bounds a manifest, in bytes. Its values take up to 800 times as much for a moment, if it is made for that.
	maxManifest = 128 << 10
	// maxBody bounds what a browser may send, in bytes: a manifest, of which each byte may be three in a form.
	maxBody = 3*maxManifest + 4<<10
	// formTimeout bounds the time in which a browser may send it.
	formTimeout = 30 * time.Second
	// tokenParameter is the name of the token in the URL that the command prints.
	tokenParameter = "token"
	// csrfField is the name of the field of a form that holds the CSRF token of a session.
	csrfField = "csrf"
	// policy lets a page load the program's own script and style, and talk to the program alone.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// origin names the pages to browsers. Any web page can make a browser send requests to it, directly or by a name that
// resolves to its address (DNS rebinding).
type origin struct {
	// scheme is http or https.
	scheme string
	// hosts are the values of Host that are accepted, with the port if it isn't the scheme's.
	hosts []string
}

// admit sets the headers of every response and reports whether the request came by a name of the origin. If not, it has answered.
func (o *origin) admit(w http.ResponseWriter, r *http.Request) bool {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if slices.ContainsFunc(o.hosts, func(known string) bool { return strings.EqualFold(r.Host, known) }) {
		return true
	}
	http.Error(w, "This address is not "+o.hosts[0]+".", http.StatusMisdirectedRequest)
	return false
}

// same reports whether a request comes from a page of the origin, or from the address bar. Browsers say so by Sec-Fetch-Site,
// older ones by Origin. If it doesn't, same has answered.
func (o *origin) same(w http.ResponseWriter, r *http.Request) bool {
	is := false
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		is = true
	case "":
		from := r.Header.Get("Origin")
		is = from == "" || from == o.scheme+"://"+r.Host
	}
	if !is {
		http.Error(w, "Another site must not use this one.", http.StatusForbidden)
	}
	return is
}

// readForm reads the form of a request that may change something, and reports whether it has the CSRF token. If not, it has
// answered. Other requests have no form.
func readForm(w http.ResponseWriter, r *http.Request, csrf string) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	if !parseForm(w, r, maxBody) {
		return false
	}
	if !equal(r.PostForm.Get(csrfField), csrf) {
		http.Error(w, "This form is of another session. Load the page again.", http.StatusForbidden)
		return false
	}
	return true
}

// parseForm reads a form of at most some bytes. If it can't, it has answered.
func parseForm(w http.ResponseWriter, r *http.Request, most int64) bool {
	out := http.NewResponseController(w)
	err := out.SetReadDeadline(time.Now().Add(formTimeout))
	if err == nil {
		r.Body = http.MaxBytesReader(w, r.Body, most)
		err = r.ParseForm()
	}
	if err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "The form can't be read: "+err.Error(), status)
		return false
	}
	return out.SetReadDeadline(time.Time{}) == nil // an error: the browser has gone
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// guard keeps everybody out but the user who started the program on this machine. Any user of the machine can connect to it.
type guard struct {
	origin
	// token opens a session. Its cookie has another value, so that a cookie doesn't open another one.
	token, session string
	cookie         string
}

func newGuard(address net.Addr) *guard {
	_, port, _ := net.SplitHostPort(address.String())
	return &guard{
		origin: origin{"http", []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port)}},
		token:  rand.Text(), session: rand.Text(), cookie: "assay-ui-" + port,
	}
}

// url returns the URL that opens a session.
func (g *guard) url() string {
	return "http://" + g.hosts[0] + "/?" + url.Values{tokenParameter: {g.token}}.Encode()
}

// protect returns a handler that passes on the user's own requests alone. Forms must have the CSRF token.
func (g *guard) protect(next http.Handler, csrf string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.admit(w, r) {
			return
		}
		if token := r.URL.Query().Get(tokenParameter); token != "" && r.Method == http.MethodGet {
			g.open(w, token)
			return
		}
		if !g.same(w, r) {
			return
		}
		if cookie, err := r.Cookie(g.cookie); err != nil || !equal(cookie.Value, g.session) {
			http.Error(w, `Open the URL that "kubectl assay ui" has printed.`, http.StatusUnauthorized)
			return
		}
		if readForm(w, r, csrf) {
			next.ServeHTTP(w, r)
		}
	})
}

// open answers the URL with the token: it sets the cookie and goes to the page without the token. A redirect would still
// count as coming from another site if that is where the user clicked, so that the browser would keep the cookie back.
func (g *guard) open(w http.ResponseWriter, token string) {
	if !equal(token, g.token) {
		http.Error(w, `This token is of another session. Open the URL that "kubectl assay ui" has printed last.`, http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	render(w, http.StatusOK, "enter", "/")
}
