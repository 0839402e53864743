//go:build e2e

package e2e

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/test/objectstore"
)

// objectStore is the S3 server of test/s3 behind a proxy on an address that pods reach.
type objectStore struct {
	*objectstore.Server
	proxy *objectstore.Proxy
}

// nodeAddress returns an address of this host that pods reach: that of the node, which is this host.
func (c *cluster) nodeAddress(t *testing.T) string {
	t.Helper()
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		for _, address := range nodes.Items[i].Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				return address.Address
			}
		}
	}
	t.Fatal("no node has an internal address")
	return ""
}

// newObjectStore builds and starts a server. The plugin gets its credentials.
func newObjectStore(t *testing.T, host string) *objectStore {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gateway")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/gateway")
	build.Dir = filepath.Join("..", "s3")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the S3 server: %v\n%s", err, out)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", objectstore.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", objectstore.SecretKey)
	server, err := objectstore.Start(program, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	proxy, err := objectstore.NewProxy(host, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return &objectStore{server, proxy}
}

// url returns the URL of the bucket.
func (s *objectStore) url() string { return objectstore.URL(s.proxy.Address(), objectstore.Bucket) }

// file returns the file of an object.
func (s *objectStore) file(key string) string {
	return filepath.Join(objectstore.Objects(s.Directory), filepath.FromSlash(key))
}

// keys returns the keys of all objects.
func (s *objectStore) keys(t *testing.T) []string {
	t.Helper()
	var keys []string
	root := s.file("")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a temporary file of the server
			return nil
		}
		if err == nil && !entry.IsDir() {
			key, _ := filepath.Rel(root, path)
			keys = append(keys, filepath.ToSlash(key))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
