package ui

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/assay-dev/assay/internal/printable"
)

const (
	healthPath    = "/healthz"
	bearer        = "Bearer "
	authorization = "Authorization"
)

// Login connects to the API server with the token of a user.
type Login interface {
	// User returns the name of the token's user, as the API server says. The error of a token that it doesn't accept is Unauthorized.
	User(ctx context.Context, token string) (string, error)
	// Open returns the pages of the token's user for one request.
	Open(token string, scope Scope, limits Limits) (*App, error)
}

// Portal serves the pages to many users, each with the rights of the bearer token that their request has. It has no rights of its own, and
// keeps nothing between two requests that decides what a user sees.
type Portal struct {
	origin
	login   Login
	users   *users
	quotas  *quotas
	windows *windows
	assets  http.Handler
}

// NewPortal returns a Portal that browsers reach by a URL without a path, which must be https unless it is that of a loopback address: otherwise
// tokens would be sent in clear.
func NewPortal(address string, login Login) (*Portal, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("parse the URL: %w", err)
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%q must be a URL with a scheme and a host, and without a path, such as https://assay.example.com", address)
	case u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1":
		return nil, fmt.Errorf("%q must begin with https: tokens would be sent in clear. http is for localhost only, by kubectl port-forward", address)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q must begin with https://", address)
	}
	return &Portal{
		origin: origin{u.Scheme, []string{strings.ToLower(u.Host)}}, login: login, users: newUsers(login, time.Now), quotas: newQuotas(), windows: &windows{}, assets: assetsHandler(),
	}, nil
}

// Serve serves on a listener until the context ends.
func (p *Portal) Serve(ctx context.Context, listener net.Listener) error {
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
	// A link on another page may lead to this one: a navigation changes nothing.
	if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet {
		if !p.same(w, r) {
			return
		}
	}
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		p.assets.ServeHTTP(w, r)
		return
	}
	token, has := strings.CutPrefix(r.Header.Get(authorization), bearer)
	if token = strings.TrimSpace(token); !has || token == "" {
		p.refuse(w, errNoToken)
		return
	}
	user, err := p.users.of(r.Context(), token, r.RemoteAddr)
	if err != nil {
		p.refuse(w, err)
		return
	}
	r, limits, leave, err := p.quotas.enter(r, user)
	if err != nil {
		p.refuse(w, err)
		return
	}
	defer leave()
	csrf := csrfOf(token)
	if !readForm(w, r, csrf) {
		return
	}
	app, err := p.login.Open(token, scopeOf(r), limits)
	if err != nil {
		p.refuse(w, err)
		return
	}
	app.user, app.csrf, app.windows = printable.Text(user.name), csrf, p.windows
	// No page passes on the credentials of a request.
	r.Header.Del(authorization)
	p.quotas.serve(w, r, user, limits, app.handler())
}

// csrfOf returns the CSRF token of the forms of a bearer token's user. Only who has the token can compute it, and it tells nothing
// of the token.
func csrfOf(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	_, _ = mac.Write([]byte("assay-ui csrf")) // it can't fail
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

var (
	// errNoToken is the error of a request without a bearer token.
	errNoToken = errors.New("the request has no bearer token")
	// errBusy is the error of a token that can't be asked about because too many are.
	errBusy = errors.New("too many tokens are being checked; try again in a moment")
)

// refuse answers a request of a user who isn't known with why, and what such a request needs.
func (p *Portal) refuse(w http.ResponseWriter, err error) {
	status, problem := http.StatusBadGateway, "The API server can't be asked: "+sentence(err)
	switch {
	case errors.Is(err, errNoToken):
		status, problem = http.StatusUnauthorized, sentence(err)
	case apierrors.IsUnauthorized(err):
		status, problem = http.StatusUnauthorized, "The API server doesn't accept the token of the request. It may have expired."
	case apierrors.IsForbidden(err):
		status, problem = http.StatusForbidden, "The token's user may not ask the API server who they are: "+sentence(err)
	case errors.Is(err, errBusy), errors.Is(err, errManyRequests), errors.Is(err, errManyStreams):
		status, problem = http.StatusServiceUnavailable, sentence(err)
		w.Header().Set("Retry-After", "10")
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	render(w, status, "refused", page{Title: "Not logged in", Notice: notice{Text: problem}})
}
