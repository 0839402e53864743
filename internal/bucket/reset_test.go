package bucket_test

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/bucket"
)

// TestPutWhereTheConnectionIsReset has a server that resets the connection of each upload. The error is the
// connection's only if the object isn't stored.
func TestPutWhereTheConnectionIsReset(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	data := []byte("a result")
	for name, tc := range map[string]struct {
		stored []byte // nil for no object
		check  func(error) bool
	}{
		"the same object is stored": {data, func(err error) bool { return err == nil }},
		"another object is stored":  {[]byte("A result"), func(err error) bool { return errors.Is(err, bucket.ErrOther) }},
		"no object is stored": {nil, func(err error) bool {
			return err != nil && !errors.Is(err, bucket.ErrOther) && strings.HasPrefix(err.Error(), "put object ")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPut:
					reset(t, w)
				case tc.stored == nil:
					w.WriteHeader(http.StatusNotFound)
				default:
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(tc.stored))
				}
			}))
			t.Cleanup(server.Close)
			b, err := bucket.Open(t.Context(), "s3://results?region=us-east-1&use_path_style=true&endpoint="+server.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			if err := b.Put(t.Context(), "key", data); !tc.check(err) {
				t.Errorf("put: %v", err)
			}
		})
	}
}

func reset(t *testing.T, w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if err := connection.(*net.TCPConn).SetLinger(0); err != nil { //nolint:forcetypeassert // httptest's server uses TCP
		t.Error(err)
	}
	_ = connection.Close()
}
