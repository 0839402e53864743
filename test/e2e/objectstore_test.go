//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// objectStore is the S3 server of test/s3 in a process of its own, behind a proxy on an address that pods reach. The proxy
// can kill it in the middle of a write.
type objectStore struct {
	program, directory   string
	accessKey, secretKey string
	address              string // of the server
	proxy                net.Listener

	mu sync.Mutex
	// left is the number of bytes of a PUT after which the server is killed; 0 for never.
	left    int
	killed  chan struct{}
	open    map[net.Conn]bool
	process *exec.Cmd
	ended   chan struct{}
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
	s := &objectStore{
		program: filepath.Join(t.TempDir(), "gateway"), directory: t.TempDir(), accessKey: "assay", secretKey: "s3cr3t-of-the-test", open: map[net.Conn]bool{},
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.program, "./cmd/gateway")
	build.Dir = filepath.Join("..", "s3")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the S3 server: %v\n%s", err, out)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", s.accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.secretKey)
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if s.proxy, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	go s.accept()
	t.Cleanup(func() {
		_ = s.proxy.Close()
		s.kill()
	})
	return s
}

// url returns the URL of the bucket.
func (s *objectStore) url() string {
	return "s3://results?endpoint=http://" + s.proxy.Addr().String() + "&region=us-east-1&use_path_style=true"
}

// start starts the server, and waits until it answers.
func (s *objectStore) start(t *testing.T) {
	t.Helper()
	process := exec.Command(s.program)
	process.Env = append(os.Environ(), "ASSAY_TEST_S3_ADDRESS="+s.address, "ASSAY_TEST_S3_DIRECTORY="+s.directory)
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s.mu.Lock()
	s.process, s.ended = process, ended
	s.mu.Unlock()
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	for tick := time.Tick(20 * time.Millisecond); ; {
		if r, err := http.Get("http://" + s.address + "/health"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick:
		case <-ended:
			t.Fatal("the S3 server has ended")
		}
	}
}

// kill ends the server at once, and all connections to it.
func (s *objectStore) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.process.Process.Kill()
	<-s.ended
	for connection := range s.open {
		_ = connection.Close()
	}
	clear(s.open)
}

// killInMidWrite makes the proxy kill the server when it has received a part of the next object.
func (s *objectStore) killInMidWrite() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.killed = 3000, make(chan struct{}) // headers, and some of the body
	return s.killed
}

func (s *objectStore) accept() {
	for {
		from, err := s.proxy.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp4", s.address)
		if err != nil {
			_ = from.Close()
			continue
		}
		s.mu.Lock()
		s.open[from], s.open[to] = true, true
		s.mu.Unlock()
		go s.forward(from, to, func([]byte) bool { return false })
		writes := false
		go s.forward(to, from, func(data []byte) bool {
			writes = writes || bytes.HasPrefix(data, []byte("PUT /"))
			return writes && s.spent(len(data))
		})
	}
}

// spent reports whether the server must be killed before it receives further bytes of a write.
func (s *objectStore) spent(bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return false
	}
	s.left = max(s.left-bytes, 0)
	return s.left == 0
}

func (s *objectStore) forward(to, from net.Conn, kills func([]byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 1024)
	for {
		n, err := from.Read(buffer)
		if n > 0 && kills(buffer[:n]) {
			s.kill()
			close(s.killed)
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// file returns the file of an object.
func (s *objectStore) file(key string) string {
	return filepath.Join(s.directory, "buckets", "results", filepath.FromSlash(key))
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
