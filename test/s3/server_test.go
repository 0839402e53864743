// Package s3 tests package bucket with a real server of S3, the Versity S3 Gateway, which stores objects as files. It is
// a module of its own because the server needs many others.
package s3

import (
	"fmt"
	"os"
	"testing"

	"github.com/assay-dev/assay/test/objectstore"
	"github.com/assay-dev/assay/test/s3/gateway"
)

const (
	accessKey = objectstore.AccessKey
	secretKey = objectstore.SecretKey
)

func TestMain(m *testing.M) {
	if address := os.Getenv(objectstore.AddressVariable); address != "" {
		if err := gateway.Serve(address, os.Getenv(objectstore.DirectoryVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// newServer starts a server with an empty bucket named results.
func newServer(t *testing.T) *objectstore.Server {
	t.Helper()
	s, err := objectstore.Start(os.Args[0], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func newProxy(t *testing.T, s *objectstore.Server) *objectstore.Proxy {
	t.Helper()
	p, err := objectstore.NewProxy("127.0.0.1", s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func restart(t *testing.T, s *objectstore.Server) {
	t.Helper()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
}
