package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxBody bounds what a browser may send, in bytes: a manifest.
	maxBody = 1 << 20
	// tokenParameter is the name of the token in the URL that the command prints.
	tokenParameter = "token"
	// csrfField is the name of the field of a form that holds the guard's CSRF token.
	csrfField = "csrf"
	// policy lets a page load the program's own script and style, and talk to the program alone.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors "
)

// guard keeps everybody out but the user who started the program. Any web page can make a browser send requests to a
// loopback address, directly or by a name that resolves to it (DNS rebinding), and any user of the machine can connect to it.
type guard struct {
	// hosts are the values of Host that are accepted: the loopback address and localhost, with the port.
	hosts []string
	// token opens a session. Its cookie has another value, so that a cookie doesn't open another one.
	token, session, csrf string
	cookie               string
}

func newGuard(address net.Addr) *guard {
	_, port, _ := net.SplitHostPort(address.String())
	return &guard{
		hosts: []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port)},
		token: rand.Text(), session: rand.Text(), csrf: rand.Text(), cookie: "assay-ui-" + port,
	}
}

// url returns the URL that opens a session.
func (g *guard) url() string {
	return "http://" + g.hosts[0] + "/?" + url.Values{tokenParameter: {g.token}}.Encode()
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// protect returns a handler that passes on the user's own requests alone.
func (g *guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy+"'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if !g.named(r.Host) {
			http.Error(w, "This address is not "+g.hosts[0]+".", http.StatusMisdirectedRequest)
			return
		}
		if token := r.URL.Query().Get(tokenParameter); token != "" && r.Method == http.MethodGet {
			g.open(w, r, token)
			return
		}
		cookie, err := r.Cookie(g.cookie)
		switch {
		case !g.sameOrigin(r):
			http.Error(w, "Another site must not use this one.", http.StatusForbidden)
			return
		case err != nil || !equal(cookie.Value, g.session):
			http.Error(w, `Open the URL that "kubectl assay ui" has printed.`, http.StatusUnauthorized)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			if err := r.ParseForm(); err != nil {
				http.Error(w, "The form can't be read: "+err.Error(), http.StatusBadRequest)
				return
			}
			if !equal(r.PostForm.Get(csrfField), g.csrf) {
				http.Error(w, "This form is of another session. Load the page again.", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) named(host string) bool {
	for _, known := range g.hosts {
		if strings.EqualFold(host, known) {
			return true
		}
	}
	return false
}

// sameOrigin reports whether a request comes from a page of the program, or from the address bar. Browsers say so by
// Sec-Fetch-Site, older ones by Origin.
func (g *guard) sameOrigin(r *http.Request) bool {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "same-origin", "none":
		return true
	case "":
		origin := r.Header.Get("Origin")
		return origin == "" || origin == "http://"+r.Host
	}
	return false
}

// open answers the URL with the token: it sets the cookie and goes to the page without the token. A redirect would still
// count as coming from another site if that is where the user clicked, so that the browser would keep the cookie back.
func (g *guard) open(w http.ResponseWriter, r *http.Request, token string) {
	if !equal(token, g.token) {
		http.Error(w, `This token is of another session. Open the URL that "kubectl assay ui" has printed last.`, http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	render(w, r, http.StatusOK, "enter", nil)
}
