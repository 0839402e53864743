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

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// mostLogins is how many connections log in at a time.
	mostLogins = 16
	// pageBytes is how much of a page is read to find its form.
	pageBytes = 1 << 20
	// mostHidden bounds the hidden fields of a form.
	mostHidden = 256
)

// LogIn logs every connection in by the plan's form, if it has one, before there
// is load: each as a user of its own, whose cookies are those of its requests in
// all stages. The target must be answering. The first that isn't logged in ends
// it: the error says at what, what was seen and what to check. It has no
// credentials in it.
func (l *Load) LogIn(ctx context.Context) error {
	form := l.plan.Form
	if form == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jars := make([]jar, l.plan.Connections)
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range min(mostLogins, len(jars)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jars)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := (&login{load: l, form: form, jar: &jars[i]}).run(ctx); err != nil {
					cancel(err) // the first error stands
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("the login of a connection failed, after %d of %d had logged in: %w; check load.authentication: the form, and the Secret's username and password",
			done.Load(), len(jars), context.Cause(ctx))
	}
	l.jars = jars
	return nil
}

// login is one connection's.
type login struct {
	load *Load
	form *session.Form
	jar  *jar
}

// run asks for the page, sends the form, and follows where its answer leads: some
// servers take up the user only there.
func (g *login) run(ctx context.Context) error {
	var hidden []session.FormField
	if g.form.Page != "" {
		page, err := g.follow(ctx, g.form.Page)
		if err != nil {
			return err
		}
		hidden = hiddenFields(page)
	}
	answer, _, err := g.ask(ctx, http.MethodPost, g.form.Path, g.encode(hidden))
	if err != nil {
		return err
	}
	to, err := g.judge(answer)
	if err != nil {
		return fmt.Errorf("POST %s: %w", g.form.Path, err)
	}
	if to == "" {
		return nil
	}
	_, err = g.follow(ctx, to)
	return err
}

// judge is where a successful answer to the form leads; empty for nowhere.
func (g *login) judge(answer *http.Response) (to string, err error) {
	if !slices.Contains(g.form.Statuses, answer.StatusCode) {
		return "", fmt.Errorf("answered with %s, which isn't among the expected %v", status(answer), g.form.Statuses)
	}
	location := answer.Header.Get("Location")
	if !isRedirect(answer.StatusCode) || location == "" {
		if g.form.Location != "" {
			return "", fmt.Errorf("answered with %s, which doesn't redirect to the expected %s", status(answer), g.form.Location)
		}
		return "", nil
	}
	if to, err = g.load.place(g.form.Path, location); err != nil {
		return "", err
	}
	path, _, _ := strings.Cut(to, "?")
	own, _, _ := strings.Cut(g.form.Path, "?")
	switch {
	case g.form.Location != "" && !strings.HasPrefix(to, g.form.Location):
		return "", fmt.Errorf("redirected to %.200q, which doesn't begin with the expected %s", to, g.form.Location)
	case g.form.Location == "" && path == own:
		return "", fmt.Errorf("redirected to %.200q, back to the form: it wasn't accepted", to)
	}
	return to, nil
}

// status is an answer's, of which some servers leave the reason out.
func status(answer *http.Response) string {
	return printable.Clipped(strings.TrimSpace(answer.Status), 100)
}

// follow asks for a path and for what it redirects to, up to a page.
func (g *login) follow(ctx context.Context, path string) (page string, err error) {
	for range mostRedirects {
		answer, text, err := g.ask(ctx, http.MethodGet, path, "")
		if err != nil {
			return "", err
		}
		if answer.StatusCode >= 400 {
			return "", fmt.Errorf("GET %s: answered with %s", path, status(answer))
		}
		location := answer.Header.Get("Location")
		if !isRedirect(answer.StatusCode) || location == "" {
			return text, nil
		}
		next, err := g.load.place(path, location)
		if err != nil {
			return "", fmt.Errorf("GET %s: %w", path, err)
		}
		path = next
	}
	return "", fmt.Errorf("GET %s: more than %d redirects", path, mostRedirects)
}

// encode is the form's fields as they are sent.
func (g *login) encode(hidden []session.FormField) string {
	values := url.Values{}
	for _, fields := range [][]session.FormField{hidden, g.form.Fields, {
		{Name: g.form.UsernameField, Value: g.load.user.username}, {Name: g.form.PasswordField, Value: g.load.user.password},
	}} {
		for _, field := range fields {
			values.Set(field.Name, field.Value)
		}
	}
	return values.Encode()
}

// ask makes a request with the cookies so far, on a connection of its own, and
// takes up those of its answer.
func (g *login) ask(ctx context.Context, method, path, body string) (*http.Response, string, error) {
	l := g.load
	ctx, cancel := context.WithTimeout(ctx, l.timeout())
	defer cancel()
	scheme := "http"
	if l.security != nil {
		scheme = "https"
	}
	asked := &request{planned: &session.PlannedRequest{Path: path}, host: l.names[0]}
	q, err := http.NewRequestWithContext(ctx, method, scheme+"://"+l.Address()+path, strings.NewReader(body))
	if err != nil {
		return nil, "", fmt.Errorf("%s %s: it can't be asked for: %w", method, path, err)
	}
	q.Host = asked.host
	q.Header.Set("User-Agent", "assay-load")
	q.Header.Set("Accept", "*/*")
	q.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if field, has := strings.CutPrefix(string(g.jar.appendField(nil, asked, l.security != nil)), "Cookie: "); has {
		q.Header.Set("Cookie", strings.TrimSuffix(field, "\r\n"))
	}
	answer, err := l.forms.RoundTrip(q)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s", l.timeout())
		}
		return nil, "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = answer.Body.Close() }() // what matters has been read
	text, err := io.ReadAll(io.LimitReader(answer.Body, pageBytes))
	if err != nil {
		return nil, "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	g.jar.take(answer.Header.Values("Set-Cookie"), asked, time.Now())
	return answer, string(text), nil
}

// newForms is what carries logins: few requests, each on a connection of its own.
func (l *Load) newForms(access Access) *http.Transport {
	t := &http.Transport{
		DisableKeepAlives: true, MaxResponseHeaderBytes: bufferBytes,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", l.Address())
		},
	}
	if access.TLS != nil {
		t.TLSClientConfig = access.TLS.Clone()
	}
	return t
}

// place is the path and query on the target that a response to a request for a
// path redirects to; an error where that is elsewhere.
func (l *Load) place(path, location string) (string, error) {
	next, ok := l.redirected(&request{planned: &session.PlannedRequest{Path: path}, host: l.names[0]}, http.StatusSeeOther, location)
	if !ok {
		return "", fmt.Errorf("redirected to %.200q, which isn't on the target", location)
	}
	return next.planned.Path, nil
}

// hiddenFields are those of the first form in a page that asks for a password,
// else of all forms in it, as a browser sends them.
func hiddenFields(page string) []session.FormField {
	var all, current []session.FormField
	asks := false
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if asks {
				return current
			}
			return all
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := z.Token()
			switch {
			case token.Data == "form" && kind == html.EndTagToken && asks:
				return current
			case token.Data == "form":
				current, asks = nil, false
			case token.Data == "input" && kind != html.EndTagToken:
				field, typed := inputOf(token)
				asks = asks || typed == "password"
				if typed == "hidden" && field.Name != "" && len(all) < mostHidden {
					all, current = append(all, field), append(current, field)
				}
			}
		}
	}
}

// inputOf is an input element's field and its type in small letters.
func inputOf(token html.Token) (field session.FormField, typed string) {
	for _, a := range token.Attr {
		switch a.Key {
		case "name":
			field.Name = a.Val
		case "value":
			field.Value = a.Val
		case "type":
			typed = strings.ToLower(a.Val)
		}
	}
	return field, typed
}
