package driver

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// replying returns a response with the given header fields and a body of two
// bytes.
func replying(status string, fields ...string) testserver.Answer {
	then := testserver.Stay
	if slices.Contains(fields, "Connection: close") {
		then = testserver.Close
	}
	lines := append([]string{"HTTP/1.1 " + status, "Content-Length: 2"}, fields...)
	return testserver.Text(2, then, strings.Join(lines, "\r\n")+"\r\n\r\nok")
}

func TestRedirects(t *testing.T) { inBothModes(t, testRedirects) }

func testRedirects(t *testing.T) {
	for name, test := range map[string]struct {
		method, location, fields string
		ignore                   bool
		status                   string
		fails                    bool
		made                     string // requests that the server received
	}{
		"a path":                    {location: "/to?x=y", made: "GET /from, GET /to?x=y"},
		"a relative path":           {location: "to", made: "GET /from, GET /to"},
		"a fragment":                {location: "/to#part", made: "GET /from, GET /to"},
		"the target by its address": {location: "http://ADDRESS/to", made: "GET /from, GET /to"},
		"on a connection of its own": {location: "/to", fields: "Connection: close",
			made: "GET /from, GET /to"},
		"redirects not followed": {location: "/to", ignore: true, made: "GET /from"},
		"without a location":     {made: "GET /from"},
		"another server":         {location: "http://other.test/to", fails: true, made: "GET /from"},
		"another scheme":         {location: "https://ADDRESS/to", fails: true, made: "GET /from"},
		"an invalid URL":         {location: "http://[", fails: true, made: "GET /from"},
		"to an error":            {location: "/missing", fails: true, made: "GET /from, GET /missing"},
		"POST, found":            {method: "POST", location: "/to", made: "POST /from body, GET /to"},
		"PUT, found":             {method: "PUT", location: "/to", made: "PUT /from body, PUT /to body"},
		"PUT, see other":         {method: "PUT", status: "303 See Other", location: "/to", made: "PUT /from body, GET /to"},
		"POST, to be repeated":   {method: "POST", status: "307 Temporary Redirect", location: "/to", made: "POST /from body, POST /to body"},
		"not a redirect":         {status: "201 Created", location: "/to", made: "GET /from"},
		"a redirect loop":        {location: "/from", fails: true, made: strings.Repeat("GET /from, ", request.MaxRedirects) + "GET /from"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var made []string
			address := ""
			server := testserver.New(t, func(r testserver.Request) testserver.Answer {
				mu.Lock()
				defer mu.Unlock()
				made = append(made, strings.TrimSpace(r.Method+" "+r.Path+" "+string(r.Body)))
				if r.Path != "/from" {
					return replying(map[bool]string{true: "404 Not Found", false: "200 OK"}[r.Path == "/missing"])
				}
				var fields []string
				if test.location != "" {
					fields = append(fields, "Location: "+strings.Replace(test.location, "ADDRESS", address, 1))
				}
				if test.fields != "" {
					fields = append(fields, test.fields)
				}
				if test.status == "" {
					return replying("302 Found", fields...)
				}
				return replying(test.status, fields...)
			})
			mu.Lock()
			address = server.Address()
			mu.Unlock()
			planned := session.PlannedRequest{Method: test.method, Path: "/from", Follow: !test.ignore, Length: -1}
			if test.method != "" {
				planned.Body = []byte("body")
			}
			got := drive(t, planOf(1, planned), address)
			server.Stop()
			if o := got.outcomes[0]; o.Error != recorder.NoError && o.Error != result.ErrorStatus || (o.Error != recorder.NoError) != test.fails {
				t.Errorf("error %d", o.Error)
			}
			if s := strings.Join(made, ", "); s != test.made {
				t.Errorf("the server received %s, want %s", s, test.made)
			}
			seen := server.Seen()
			if got.Requests != 1 || got.Connections != seen.Connections || got.BytesSent != seen.BytesReceived || got.BytesReceived != seen.BytesSent {
				t.Errorf("counts %+v, the server's are %+v", got.Counts, seen)
			}
		})
	}
}

func TestCookies(t *testing.T) {
	sets := map[string][]string{
		"/login":   {"id=1; Path=/; HttpOnly", "b=\"2\"; Path=/app", "gone=1; Max-Age=0", "far=1; Domain=other.test", "safe=1; Secure", "=bad"},
		"/app/":    {"c=3"},
		"/app/new": {"id=4; Path=/"},
		"/logout":  {"id=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"},
	}
	for _, kept := range []bool{true, false} {
		var mu sync.Mutex
		var got []string
		server := testserver.New(t, func(r testserver.Request) testserver.Answer {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, r.Path+" "+r.Header("Cookie"))
			fields := []string{"Connection: close"} // cookies outlive the connection
			for _, set := range sets[r.Path] {
				fields = append(fields, "Set-Cookie: "+set)
			}
			return replying("200 OK", fields...)
		})
		var kinds []session.PlannedRequest
		for _, path := range []string{"/login", "/app/", "/app/new", "/application", "/app/x?y", "/logout", "/app"} {
			kinds = append(kinds, session.PlannedRequest{Path: path, Length: -1})
		}
		p := planOf(int64(len(kinds)), kinds...)
		p.Cookies = kept
		drive(t, p, server.Address())
		want := []string{"/login ", "/app/ b=\"2\"; id=1", "/app/new b=\"2\"; c=3; id=1", "/application id=4", "/app/x?y b=\"2\"; c=3; id=4",
			"/logout id=4", "/app b=\"2\"; c=3"}
		if !kept {
			want = []string{"/login ", "/app/ ", "/app/new ", "/application ", "/app/x?y ", "/logout ", "/app "}
		}
		if !slices.Equal(got, want) {
			t.Errorf("cookies kept: %v: got\n%q, want\n%q", kept, got, want)
		}
	}
}

// credentials reads credentials from files in a temporary directory.
func credentials(t *testing.T, scheme string, files map[string]string) (*request.Credentials, error) {
	t.Helper()
	directory := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return request.ReadCredentials(scheme, directory)
}

var user = map[string]string{session.UsernameKey: "Mufasa", session.PasswordKey: "Circle of Life\n"}

func TestStaticAuthorization(t *testing.T) {
	for scheme, want := range map[string]string{
		session.AuthenticationBasic:  "Basic " + base64.StdEncoding.EncodeToString([]byte("Mufasa:Circle of Life")),
		session.AuthenticationBearer: "Bearer a.b-c",
	} {
		files := map[string]string{session.TokenKey: "a.b-c\r\n"}
		if scheme == session.AuthenticationBasic {
			files = user
		}
		own, err := credentials(t, scheme, files)
		if err != nil {
			t.Fatal(err)
		}
		server := testserver.New(t, func(r testserver.Request) testserver.Answer {
			if r.Header("Authorization") != want {
				return replying("401 Unauthorized")
			}
			return replying("200 OK")
		})
		p := plan(2, 6, "/")
		p.Authentication = scheme
		if got := driveWith(t, p, server.Address(), Access{Credentials: own}); got.Succeeded() != 6 {
			t.Errorf("%s: counts %+v", scheme, got.Counts)
		}
		if _, err := New(t.Context(), &p, server.Address(), Access{}); err == nil {
			t.Errorf("%s was accepted without credentials", scheme)
		}
	}
}

func TestBadCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		scheme string
		files  map[string]string
	}{
		"no files":     {session.AuthenticationBasic, nil},
		"no password":  {session.AuthenticationDigest, map[string]string{session.UsernameKey: "secret"}},
		"colon":        {session.AuthenticationBasic, map[string]string{session.UsernameKey: "secret:", session.PasswordKey: "secret"}},
		"second line":  {session.AuthenticationBasic, map[string]string{session.UsernameKey: "secret", session.PasswordKey: "secret\r\nX: y"}},
		"empty token":  {session.AuthenticationBearer, map[string]string{session.TokenKey: "\n"}},
		"spaced token": {session.AuthenticationBearer, map[string]string{session.TokenKey: "secret token"}},
	} {
		if _, err := credentials(t, test.scheme, test.files); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// digester is a server with Digest authentication. It computes the expected
// response independently of the client (RFC 7616).
type digester struct {
	algorithm, qop string
	// uses is the number of times a nonce may be used, or 0 for no limit.
	uses  int
	nonce int
	count int
}

// parameter is a parameter of the Authorization header, quoted or not.
var parameter = regexp.MustCompile(`(\w+)=(?:"((?:\\.|[^"\\])*)"|([^",]+))`)

func (d *digester) answer(r testserver.Request) testserver.Answer {
	parameters := map[string]string{}
	for _, p := range parameter.FindAllStringSubmatch(r.Header("Authorization"), -1) {
		parameters[p[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(p[2]) + p[3]
	}
	nonce := fmt.Sprint("n", d.nonce)
	d.count++
	if parameters["nonce"] == nonce && (d.uses == 0 || d.count <= d.uses) && parameters["response"] == d.expected(r, parameters) {
		return replying("200 OK")
	}
	d.nonce++
	d.count = 0
	challenge := fmt.Sprintf(`WWW-Authenticate: Digest realm="the \"realm\"", nonce="n%d", opaque="o"`, d.nonce)
	if d.algorithm != "" {
		challenge += ", algorithm=" + d.algorithm
	}
	if d.qop != "" {
		challenge += fmt.Sprintf(", qop=%q", d.qop)
	}
	return replying("401 Unauthorized", `WWW-Authenticate: Basic realm="x"`, challenge)
}

func (d *digester) expected(r testserver.Request, p map[string]string) string {
	sum := func(text string) string {
		if strings.HasPrefix(d.algorithm, "SHA-256") {
			return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		}
		return fmt.Sprintf("%x", md5.Sum([]byte(text)))
	}
	a1 := sum(`Mufasa:the "realm":Circle of Life`)
	if strings.HasSuffix(d.algorithm, "-sess") {
		a1 = sum(a1 + ":" + p["nonce"] + ":" + p["cnonce"])
	}
	a2 := sum(r.Method + ":" + r.Path)
	if d.qop == "" {
		return sum(a1 + ":" + p["nonce"] + ":" + a2)
	}
	if p["nc"] != fmt.Sprintf("%08x", d.count) || p["opaque"] != "o" || p["uri"] != r.Path {
		return "invalid"
	}
	return sum(strings.Join([]string{a1, p["nonce"], p["nc"], p["cnonce"], "auth", a2}, ":"))
}

func TestDigest(t *testing.T) { inBothModes(t, testDigest) }

func testDigest(t *testing.T) {
	for name, test := range map[string]struct {
		server     digester
		challenges int
		want       result.ErrorKind
	}{
		"MD5":               {digester{qop: "auth"}, 1, recorder.NoError},
		"MD5, named":        {digester{algorithm: "MD5", qop: "auth-int,auth"}, 1, recorder.NoError},
		"without qop":       {digester{}, 1, recorder.NoError},
		"SHA-256":           {digester{algorithm: "SHA-256", qop: "auth"}, 1, recorder.NoError},
		"SHA-256-sess":      {digester{algorithm: "SHA-256-sess", qop: "auth, auth-int"}, 1, recorder.NoError},
		"stale nonces":      {digester{qop: "auth", uses: 5}, 4, recorder.NoError},
		"unknown algorithm": {digester{algorithm: "SHA-512-256", qop: "auth"}, 20, result.ErrorStatus},
		"auth-int only":     {digester{qop: "auth-int"}, 20, result.ErrorStatus},
	} {
		t.Run(name, func(t *testing.T) {
			own, err := credentials(t, session.AuthenticationDigest, user)
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			server := testserver.New(t, func(r testserver.Request) testserver.Answer {
				mu.Lock()
				defer mu.Unlock()
				return test.server.answer(r)
			})
			p := plan(1, 20, "/a?b")
			p.Authentication = session.AuthenticationDigest
			got := driveWith(t, p, server.Address(), Access{Credentials: own})
			if test.want == recorder.NoError && got.Succeeded() != 20 || test.want != recorder.NoError && got.Errors[test.want] != 20 {
				t.Errorf("counts %+v", got.Counts)
			}
			if test.server.nonce != test.challenges {
				t.Errorf("%d challenges, want %d", test.server.nonce, test.challenges)
			}
		})
	}
}

// canned is a transport that answers each request with the same response.
type canned struct {
	net.Conn
	response string
	pending  int
}

func (c *canned) Write(p []byte) (int, error) {
	c.pending = len(c.response)
	return len(p), nil
}

func (c *canned) Read(p []byte) (int, error) {
	if c.pending == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.response[len(c.response)-c.pending:])
	c.pending -= n
	return n, nil
}

func (*canned) SetDeadline(time.Time) error         { return nil }
func (*canned) SetLinger(int) error                 { return nil }
func (*canned) idle() idleState                     { return usable }
func (*canned) poll(*tls.Conn, []byte) (int, error) { return 0, errNotReady }
func (*canned) Close() error                        { return nil }

// TestRequestsAllocateNothing checks that requests don't allocate, with and
// without cookies and a digest.
func TestRequestsAllocateNothing(t *testing.T) {
	for name, change := range map[string]func(*connection){
		"plain":       func(*connection) {},
		"from a list": func(*connection) {},
		"cookies": func(c *connection) {
			requests := c.stage.load.requests
			requests.FollowUp(requests.Requests[0], &c.memory, 200, &response.Fields{Cookies: []string{"a=b; Path=/", "c=d"}}, 0)
		},
		"digest": func(c *connection) {
			requests := c.stage.load.requests
			challenges := []string{`Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256`}
			requests.FollowUp(requests.Requests[0], &c.memory, 401, &response.Fields{Challenges: challenges}, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(1, session.PlannedRequest{Method: "POST", Path: "/a", Body: []byte("b"), Length: -1}, session.PlannedRequest{Path: "/b", Length: -1})
			if name == "from a list" {
				p = listPlan(t, 1, 1, "/a\nPOST /bc 2")
			}
			var access Access
			switch name {
			case "cookies":
				p.Cookies = true
			case "digest":
				own, err := credentials(t, session.AuthenticationDigest, map[string]string{session.UsernameKey: "a", session.PasswordKey: "b"})
				if err != nil {
					t.Fatal(err)
				}
				p.Authentication, access.Credentials = session.AuthenticationDigest, own
			}
			load := newLoad(t, &p, "127.0.0.1:80", access)
			load.looped = false
			load.dial = func(context.Context, time.Time) (socketTransport, error) {
				return &canned{response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}, nil
			}
			stage := load.NewStage(p.Measurement, recorder.New(1))
			defer stage.Stop()
			stage.start = time.Now()
			c := stage.connections[0]
			change(c)
			choose := load.requests.Chooser(0)
			if allocated := testing.AllocsPerRun(1000, func() { c.request(choose(), stage.now()) }); allocated != 0 {
				t.Errorf("%v allocations per request", allocated)
			}
			if c.outcome.Error != recorder.NoError {
				t.Errorf("outcome %+v", c.outcome)
			}
		})
	}
}
