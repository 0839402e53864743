package main

import (
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The credentials that requests must have.
const (
	username, password = "user", "pass word&"
	token              = "to.ken"
)

// users holds the sessions that the server has opened, by their cookies. The value is
// true after a login.
type users struct {
	sessions map[string]bool
	number   int
}

func (u *users) openSession(loggedIn bool) string {
	if u.sessions == nil {
		u.sessions = map[string]bool{}
	}
	u.number++
	id := "session-" + strconv.Itoa(u.number)
	u.sessions[id] = loggedIn
	return id
}

// userPaths are the first elements of the paths with authentication, cookies and redirects.
var userPaths = []string{"basic", "bearer", "digest", "cookie", "redirect"}

// serveUsers serves those paths.
func (s *server) serveUsers(w http.ResponseWriter, request *http.Request, parts []string) {
	received, err := io.Copy(io.Discard, io.LimitReader(request.Body, 1<<20))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	report := s.paths[request.URL.Path]
	report.Received += received
	refuse := func(status int, challenge string) {
		if challenge != "" {
			w.Header().Set("WWW-Authenticate", challenge)
		}
		w.WriteHeader(status)
		report.Status++
	}
	switch parts[0] {
	case "basic":
		if name, secret, _ := request.BasicAuth(); name != username || secret != password {
			refuse(http.StatusUnauthorized, `Basic realm="test"`)
			return
		}
	case "bearer":
		if request.Header.Get("Authorization") != "Bearer "+token {
			refuse(http.StatusUnauthorized, "Bearer")
			return
		}
	case "digest":
		if !hasValidDigest(request) {
			refuse(http.StatusUnauthorized, `Digest realm="test", nonce="n", qop="auth"`)
			return
		}
	case "cookie":
		if id, err := request.Cookie("id"); err != nil || !s.users.sessions[id.Value] {
			report.Anonymous++
			http.SetCookie(w, &http.Cookie{Name: "id", Value: s.users.openSession(true), Path: "/"})
		}
	case "redirect":
		http.Redirect(w, request, "/"+strings.Join(parts[1:], "/"), http.StatusFound)
		return
	}
	report.Succeeded++
	_, _ = io.WriteString(w, "ok")
}

// hasValidDigest reports whether a request has a valid digest (RFC 7616, MD5 with qop=auth).
func hasValidDigest(request *http.Request) bool {
	p := map[string]string{}
	for _, field := range strings.Split(strings.TrimPrefix(request.Header.Get("Authorization"), "Digest "), ", ") {
		name, value, _ := strings.Cut(field, "=")
		p[name] = strings.Trim(value, `"`)
	}
	sum := func(text string) string { return fmt.Sprintf("%x", md5.Sum([]byte(text))) }
	a1, a2 := sum(username+":test:"+password), sum(request.Method+":"+request.URL.RequestURI())
	return p["username"] == username && p["response"] == sum(strings.Join([]string{a1, "n", p["nc"], p["cnonce"], "auth", a2}, ":"))
}

// serveForm serves /form/page, which requires a login, and /form/login. A login requires
// the session and the token that the form of the page contained.
func (s *server) serveForm(w http.ResponseWriter, request *http.Request, parts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	report := s.paths[request.URL.Path]
	id := ""
	if cookie, err := request.Cookie("session"); err == nil {
		id = cookie.Value
	}
	loggedIn, known := s.users.sessions[id]
	setCookie := func(id string) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: id, Path: "/form", HttpOnly: true})
	}
	switch {
	case parts[1] == "login" && request.Method == http.MethodPost:
		if !known || request.PostFormValue("token") != "of "+id || request.PostFormValue("username") != username || request.PostFormValue("password") != password {
			report.Status++
			w.WriteHeader(http.StatusForbidden)
			return
		}
		report.Succeeded++
		delete(s.users.sessions, id)
		setCookie(s.users.openSession(true))
		http.Redirect(w, request, "/form/page", http.StatusSeeOther)
	case parts[1] == "page" && loggedIn:
		report.Succeeded++
		_, _ = io.WriteString(w, "page")
	default:
		report.Anonymous++
		if !known {
			id = s.users.openSession(false)
			setCookie(id)
		}
		_, _ = fmt.Fprintf(w, `<form method="post" action="/form/login"><input type="hidden" name="token" value="of %s">`+
			`<input name="username"><input type="password" name="password"></form>`, id)
	}
}
