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

// TestAsksAsItIsTold: method, headers and body are those of the request, and any
// status is an answer.
func TestAsksAsItIsTold(t *testing.T) {
	for _, test := range []struct {
		as   session.PlannedRequest
		want string
		// length is that of the answer's body.
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
		q := question(address(server), "/x")
		q.As = &test.as
		evidence, err := Ask(t.Context(), q)
		server.Close()
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" || evidence.DocumentLength != test.length {
			t.Errorf("%v, %+v (-want +got):\n%s", err, evidence, diff)
		}
		if q.Address = "127.0.0.1:1"; test.as.Method != "" {
			if _, err := Ask(t.Context(), q); err == nil || !strings.HasPrefix(err.Error(), test.as.Method+" /x: ") {
				t.Errorf("of nobody: %v", err)
			}
		}
	}
}
