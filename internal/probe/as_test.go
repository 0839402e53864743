package probe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/session"
)

// TestRequestAs checks that method, headers and body are sent as given, and that any
// status is accepted.
func TestRequestAs(t *testing.T) {
	for _, test := range []struct {
		as   session.PlannedRequest
		want string
		// length is the length of the response's body.
		length int64
	}{
		{session.PlannedRequest{
			Method: "POST", Body: []byte("a=b"), Headers: []session.Header{{Name: "Content-Type", Value: "c/d"}, {Name: "user-agent", Value: "e"}},
		}, "POST /x c/d e 3 a=b", 5},
		{session.PlannedRequest{Method: "HEAD"}, "HEAD /x  assay-test 0 ", 0},
		{session.PlannedRequest{Method: "PUT"}, "PUT /x  assay-test 0 ", 5},
		{session.PlannedRequest{}, "GET /x  assay-test 0 ", 5},
	} {
		got := ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got = strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.UserAgent(), string('0' + rune(r.ContentLength)), string(body)}, " ")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "none\n")
		}))
		r := requestTo(address(server), "/x")
		test.as.Path = "/x"
		r.Probe = session.Probe{Request: test.as, AnyStatus: true}
		result, err := Once(t.Context(), r)
		server.Close()
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" || result.DocumentLength != test.length {
			t.Errorf("%v, %+v (-want +got):\n%s", err, result, diff)
		}
		if r.Address = "127.0.0.1:1"; test.as.Method != "" {
			if _, err := Once(t.Context(), r); err == nil || !strings.HasPrefix(err.Error(), test.as.Method+" /x: ") {
				t.Errorf("without a server: %v", err)
			}
		}
	}
}
