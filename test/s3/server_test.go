// Package s3 tests package bucket with a real server of S3, the Versity S3 Gateway, which stores objects as files. It is
// a module of its own because the server needs many others.
package s3

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/assay-dev/assay/test/s3/gateway"
)

const (
	accessKey = gateway.AccessKey
	secretKey = gateway.SecretKey
)

func TestMain(m *testing.M) {
	if address := os.Getenv(gateway.AddressVariable); address != "" {
		if err := gateway.Serve(address, os.Getenv(gateway.DirectoryVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// server is a server in a process of its own.
type server struct {
	address   string
	directory string
	process   *exec.Cmd
	ended     chan struct{} // closed when the process has ended
}

// newServer starts a server with an empty bucket named results.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{address: freeAddress(t), directory: t.TempDir()}
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

// freeAddress returns an address of the loopback interface that nothing else uses: few programs use any but 127.0.0.1.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	listener, err := net.Listen("tcp4", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// start starts the server, and waits until it answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.process = exec.Command(os.Args[0])
	s.process.Env = append(os.Environ(), gateway.AddressVariable+"="+s.address, gateway.DirectoryVariable+"="+s.directory)
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		_ = s.process.Wait()
		close(ended)
	}()
	for tick := time.Tick(20 * time.Millisecond); ; {
		if r, err := http.Get("http://" + s.address + gateway.Health); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick:
		case <-s.ended:
			t.Fatal("the server has ended")
		}
	}
}

// kill ends the server's process at once, wherever it is, and waits until it is gone.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}

// url returns the URL of a bucket at an address.
func url(address, bucket string) string {
	return fmt.Sprintf("s3://%s?endpoint=http://%s&region=%s&use_path_style=true", bucket, address, gateway.Region)
}
