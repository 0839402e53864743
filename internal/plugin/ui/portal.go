package ui

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/assay-dev/assay/internal/printable"
)

const (
	// maxToken bounds a bearer token, in bytes. Those with many groups of an identity provider are a few kilobytes long.
	maxToken = 32 << 10
	// loginTimeout bounds the time that the API server has to say whose a token is.
	loginTimeout = 15 * time.Second
	// maxLogins bounds the tokens about which the API server is asked at a time.
	maxLogins = 8
	// portalCookie is the name of the cookie. Browsers keep one with this prefix from being set by another host or without TLS.
	portalCookie     = "__Host-assay-ui"
	loopbackCookie   = "assay-ui"
	tokenField       = "token"
	namespaceField   = "namespace"
	healthPath       = "/healthz"
	bearer           = "Bearer "
	authorization    = "Authorization"
	loginExplanation = "Log in with a token that the API server accepts. The pages can do what its user can do, no more."
)

// Login connects to the API server with the token of a user.
type Login interface {
	// User returns the name of the token's user, as the API server says. The error of a token that it doesn't accept is Unauthorized.
	User(ctx context.Context, token string) (string, error)
	// Open returns the pages of the token's user, for one namespace or, if it is empty, for all. They can be used until the context ends.
	Open(ctx context.Context, token, namespace string) (*App, error)
}

// Portal serves the pages to many users, each with the rights of the token that they have logged in with. It has no rights of its own.
type Portal struct {
	origin
	cookie   string
	login    Login
	sessions *sessions
	logins   chan struct{} // has an item for each that is under way
	assets   http.Handler
}

// NewPortal returns a Portal that browsers reach by a URL without a path, which must be https unless it is that of a loopback address: otherwise
// tokens would be sent in clear. It keeps at most maxSessions sessions.
func NewPortal(address string, login Login, maxSessions int) (*Portal, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("parse the URL: %w", err)
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%q must be a URL with a scheme and a host, and without a path, such as https://assay.example.com", address)
	case u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1":
		return nil, fmt.Errorf("%q must begin with https: tokens would be sent in clear. http is for localhost only, by kubectl port-forward", address)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q must begin with https://", address)
	}
	p := &Portal{
		origin: origin{u.Scheme, []string{strings.ToLower(u.Host)}}, cookie: portalCookie,
		login: login, sessions: newSessions(maxSessions, time.Now), logins: make(chan struct{}, maxLogins), assets: assetsHandler(),
	}
	if u.Scheme == "http" {
		p.cookie = loopbackCookie
	}
	return p, nil
}

// Serve serves on a listener until the context ends. All sessions end with it.
func (p *Portal) Serve(ctx context.Context, listener net.Listener) error {
	go p.sessions.run(ctx)
	return serve(ctx, listener, p)
}

// ServeHTTP implements http.Handler.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == healthPath && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // the kubelet asks by the pod's address
		return
	}
	if !p.admit(w, r) {
		return
	}
	if p.scheme == "https" {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	// A link on another page may lead to this one: a navigation sends no cookie then, and changes nothing.
	if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet {
		if !p.same(w, r) {
			return
		}
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/assets/"):
		p.assets.ServeHTTP(w, r)
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		p.logIn(w, r)
	default:
		p.serveSession(w, r)
	}
}

// serveSession answers a request of a session, or with the form to log in.
func (p *Portal) serveSession(w http.ResponseWriter, r *http.Request) {
	s, err := p.sessionOf(r)
	switch {
	case err != nil:
		p.refuse(w, r, err)
		return
	case s == nil && r.Method == http.MethodGet && strings.HasSuffix(r.Header.Get("Sec-Fetch-Site"), "-site"):
		// The user followed a link on another site, for which the browser keeps the cookie back. From this page it has it.
		render(w, r, http.StatusOK, "enter", ownPath(r.URL))
		return
	case s == nil:
		p.form(w, r, http.StatusUnauthorized, "")
		return
	}
	defer s.release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	r = r.WithContext(ctx)
	// No page passes on the credentials of a request.
	r.Header.Del(authorization)
	if !readForm(w, r, s.app.csrf) {
		return
	}
	if r.URL.Path == "/logout" && r.Method == http.MethodPost {
		p.sessions.end(s)
		http.SetCookie(w, p.newCookie("", -1))
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	s.pages.ServeHTTP(w, r)
}

// sessionOf returns the session of a request: that of its cookie, or of the token that a proxy in front has added. Both are nil if it has none.
func (p *Portal) sessionOf(r *http.Request) (*userSession, error) {
	if token, has := strings.CutPrefix(r.Header.Get(authorization), bearer); has {
		sum := sha256.Sum256([]byte(token))
		key := "bearer " + hex.EncodeToString(sum[:])
		if s := p.sessions.use(key); s != nil {
			return s, nil
		}
		return p.open(r.Context(), key, strings.TrimSpace(token), "")
	}
	cookie, err := r.Cookie(p.cookie)
	if err != nil || cookie.Value == "" {
		return nil, nil //nolint:nilerr // without a cookie there is no session
	}
	return p.sessions.use(cookie.Value), nil
}

// ownPath returns the path and the query of a URL, or / if browsers could take them for another host's.
func ownPath(u *url.URL) string {
	path := u.RequestURI()
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\;'\"") {
		return "/"
	}
	return path
}

// errBusy is the error of a login while too many are under way.
var errBusy = errors.New("too many logins are under way; try again in a moment")

// open opens the session of a token. The API server says whose it is.
func (p *Portal) open(ctx context.Context, key, token, namespace string) (*userSession, error) {
	select {
	case p.logins <- struct{}{}:
		defer func() { <-p.logins }()
	default:
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	user, err := p.login.User(ctx, token)
	if err != nil {
		return nil, err
	}
	return p.sessions.start(key, user, func(ctx context.Context) (*App, error) {
		s, err := p.login.Open(ctx, token, namespace)
		if err != nil {
			return nil, err
		}
		s.user = printable.Text(user)
		return s, nil
	}, func(ctx context.Context) error {
		_, err := p.login.User(ctx, token)
		return err
	})
}

// logIn answers the form with a token.
func (p *Portal) logIn(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		http.Error(w, "The browser doesn't say from which page the form comes. Use a newer one.", http.StatusForbidden)
		return
	}
	if !parseForm(w, r, 2*maxToken) {
		return
	}
	token, namespace := strings.TrimSpace(r.PostForm.Get(tokenField)), strings.TrimSpace(r.PostForm.Get(namespaceField))
	switch {
	case token == "" || len(token) > maxToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		p.form(w, r, http.StatusUnprocessableEntity, "This isn't a bearer token: one has no spaces, and only printable ASCII characters.")
		return
	case namespace != "" && len(validation.ValidateNamespaceName(namespace, false)) > 0:
		p.form(w, r, http.StatusUnprocessableEntity, "The namespace isn't the name of one. Leave it empty for all namespaces.")
		return
	}
	key := rand.Text()
	s, err := p.open(r.Context(), key, token, namespace)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	s.release()
	http.SetCookie(w, p.newCookie(key, 0))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (p *Portal) newCookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: p.cookie, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: p.scheme == "https",
	}
}

// refuse answers with the form, which says why there is no session.
func (p *Portal) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case apierrors.IsUnauthorized(err):
		p.form(w, r, http.StatusUnauthorized, "The API server doesn't accept this token. It may have expired.")
	case apierrors.IsForbidden(err):
		p.form(w, r, http.StatusForbidden, "The token's user may not ask the API server who they are: "+sentence(err))
	case errors.Is(err, errBusy), errors.Is(err, errFull):
		w.Header().Set("Retry-After", "10")
		p.form(w, r, http.StatusServiceUnavailable, sentence(err))
	default:
		p.form(w, r, http.StatusBadGateway, "The API server can't be asked: "+sentence(err))
	}
}

// loginPage is the form to log in.
type loginPage struct {
	page
	Explanation, Problem string
}

func (p *Portal) form(w http.ResponseWriter, r *http.Request, status int, problem string) {
	render(w, r, status, "login", loginPage{page: page{Title: "Log in", Scope: ""}, Explanation: loginExplanation, Problem: problem})
}
