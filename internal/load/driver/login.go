package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/html"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// maxLogins is the number of connections that log in at the same time.
	maxLogins = 16
	// maxPageBytes limits the part of a page that is read to find its form.
	maxPageBytes = 1 << 20
	// maxHiddenFields limits the hidden fields of a form.
	maxHiddenFields = 256
)

// LogIn logs in every connection with the plan's form, if it has one. Each connection is
// a user of its own, and all of its requests in all stages carry the cookies of its
// login. The target must be ready. LogIn stops at the first failure. Its error contains
// the request, the response and what to check, but no credentials.
func (l *Load) LogIn(ctx context.Context) error {
	form := l.plan.Form
	if form == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jars := make([]request.Jar, l.plan.Connections)
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range min(maxLogins, len(jars)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jars)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := (&login{load: l, form: form, jar: &jars[i]}).run(ctx); err != nil {
					cancel(err) // only the first call has an effect
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("log in (%d of %d connections succeeded): %w. Check load.authentication.form and the username and password in its Secret",
			done.Load(), len(jars), context.Cause(ctx))
	}
	l.jars = jars
	return nil
}

// login is the login of one connection.
type login struct {
	load *Load
	form *session.Form
	jar  *request.Jar
}

// run gets the page, posts the form and follows redirects, because some servers finish a
// login only on the page that they redirect to.
func (g *login) run(ctx context.Context) error {
	var hidden []session.FormField
	if g.form.Page != "" {
		page, err := g.follow(ctx, g.form.Page)
		if err != nil {
			return err
		}
		hidden = hiddenFields(page)
	}
	response, _, err := g.request(ctx, http.MethodPost, g.form.Path, g.encode(hidden))
	if err != nil {
		return err
	}
	to, err := g.checkResponse(response)
	if err != nil {
		return fmt.Errorf("POST %s: %w", g.form.Path, err)
	}
	if to == "" {
		return nil
	}
	_, err = g.follow(ctx, to)
	return err
}

// checkResponse returns the path that a successful response to the form redirects to, or an
// empty string if it doesn't redirect.
func (g *login) checkResponse(response *http.Response) (to string, err error) {
	if !slices.Contains(g.form.Statuses, response.StatusCode) {
		return "", fmt.Errorf("unexpected status %s, want one of %v", status(response), g.form.Statuses)
	}
	location := response.Header.Get("Location")
	if !request.IsRedirect(response.StatusCode) || location == "" {
		if g.form.Location != "" {
			return "", fmt.Errorf("status %s without a redirect, want a redirect to %s", status(response), g.form.Location)
		}
		return "", nil
	}
	if to, err = g.load.targetPath(g.form.Path, location); err != nil {
		return "", err
	}
	path, _, _ := strings.Cut(to, "?")
	own, _, _ := strings.Cut(g.form.Path, "?")
	switch {
	case g.form.Location != "" && !strings.HasPrefix(to, g.form.Location):
		return "", fmt.Errorf("redirected to %.200q, want a location that starts with %s", to, g.form.Location)
	case g.form.Location == "" && path == own:
		return "", fmt.Errorf("redirected to %.200q, back to the form: the login was rejected", to)
	}
	return to, nil
}

// status returns the status line's code and reason. Some servers omit the reason.
func status(response *http.Response) string {
	return printable.Clipped(strings.TrimSpace(response.Status), 100)
}

// follow gets path, follows redirects and returns the page that they lead to.
func (g *login) follow(ctx context.Context, path string) (page string, err error) {
	for range request.MaxRedirects {
		response, text, err := g.request(ctx, http.MethodGet, path, "")
		if err != nil {
			return "", err
		}
		if response.StatusCode >= 400 {
			return "", fmt.Errorf("GET %s: unexpected status %s", path, status(response))
		}
		location := response.Header.Get("Location")
		if !request.IsRedirect(response.StatusCode) || location == "" {
			return text, nil
		}
		next, err := g.load.targetPath(path, location)
		if err != nil {
			return "", fmt.Errorf("GET %s: %w", path, err)
		}
		path = next
	}
	return "", fmt.Errorf("GET %s: more than %d redirects", path, request.MaxRedirects)
}

// encode returns the URL-encoded form.
func (g *login) encode(hidden []session.FormField) string {
	values := url.Values{}
	for _, fields := range [][]session.FormField{hidden, g.form.Fields, {
		{Name: g.form.UsernameField, Value: g.load.formCredentials.Username}, {Name: g.form.PasswordField, Value: g.load.formCredentials.Password},
	}} {
		for _, field := range fields {
			values.Set(field.Name, field.Value)
		}
	}
	return values.Encode()
}

// request makes a request with the current cookies on a new connection, and stores the
// cookies of the response.
func (g *login) request(ctx context.Context, method, path, body string) (*http.Response, string, error) {
	l := g.load
	ctx, cancel := context.WithTimeout(ctx, l.timeout())
	defer cancel()
	scheme := "http"
	if l.tlsConfigs != nil {
		scheme = "https"
	}
	r := l.requests.Page(path)
	q, err := http.NewRequestWithContext(ctx, method, scheme+"://"+l.Address()+path, strings.NewReader(body))
	if err != nil {
		return nil, "", fmt.Errorf("%s %s: create request: %w", method, path, err)
	}
	q.Host = r.Host
	q.Header.Set("User-Agent", "assay-load")
	q.Header.Set("Accept", "*/*")
	q.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if field, has := strings.CutPrefix(string(g.jar.AppendField(nil, r, l.tlsConfigs != nil)), "Cookie: "); has {
		q.Header.Set("Cookie", strings.TrimSuffix(field, "\r\n"))
	}
	response, err := l.formTransport.RoundTrip(q)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no response within %s", l.timeout())
		}
		return nil, "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // the page has been read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxPageBytes))
	if err != nil {
		return nil, "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	g.jar.Store(response.Header.Values("Set-Cookie"), r, time.Now())
	return response, string(text), nil
}

// newFormTransport returns the transport for logins. It opens a connection for each request.
func (l *Load) newFormTransport(access Access) *http.Transport {
	t := &http.Transport{
		DisableKeepAlives: true, MaxResponseHeaderBytes: response.BufferBytes,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", l.Address())
		},
	}
	if access.TLS != nil {
		t.TLSClientConfig = access.TLS.Clone()
	}
	return t
}

// targetPath returns the path and query that a redirect leads to from path. It returns an
// error if the redirect leads to another server.
func (l *Load) targetPath(path, location string) (string, error) {
	next, ok := l.requests.Redirected(l.requests.Page(path), http.StatusSeeOther, location)
	if !ok {
		return "", fmt.Errorf("redirected to %.200q, which is another server", location)
	}
	return next.Planned.Path, nil
}

// hiddenFields returns the hidden fields of the first form in page with a password field,
// as a browser sends them. If no form has one, it returns the hidden fields of all forms.
func hiddenFields(page string) []session.FormField {
	var all, current []session.FormField
	hasPassword := false
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if hasPassword {
				return current
			}
			return all
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := z.Token()
			switch {
			case token.Data == "form" && kind == html.EndTagToken && hasPassword:
				return current
			case token.Data == "form":
				current, hasPassword = nil, false
			case token.Data == "input" && kind != html.EndTagToken:
				field, inputType := inputOf(token)
				hasPassword = hasPassword || inputType == "password"
				if inputType == "hidden" && field.Name != "" && len(all) < maxHiddenFields {
					all, current = append(all, field), append(current, field)
				}
			}
		}
	}
}

// inputOf returns an input element's field, and its type in lowercase.
func inputOf(token html.Token) (field session.FormField, inputType string) {
	for _, a := range token.Attr {
		switch a.Key {
		case "name":
			field.Name = a.Val
		case "value":
			field.Value = a.Val
		case "type":
			inputType = strings.ToLower(a.Val)
		}
	}
	return field, inputType
}
