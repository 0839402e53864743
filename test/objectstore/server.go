// Package objectstore runs the S3 server of test/s3 in a process of its own, behind a proxy that can kill it in the middle of a
// request.
package objectstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// AccessKey names the credentials that the server accepts.
	AccessKey = "assay"
	// SecretKey is their secret.
	SecretKey = "s3cr3t-of-the-test"
	// Region is the region of its buckets.
	Region = "us-east-1"
	// Bucket is the name of the bucket that it creates.
	Bucket = "results"
	// Health is the path that it answers without credentials.
	Health = "/health"

	// AddressVariable is the environment variable of its program with the address that it listens on.
	AddressVariable = "ASSAY_TEST_S3_ADDRESS"
	// DirectoryVariable is that with the directory of its objects.
	DirectoryVariable = "ASSAY_TEST_S3_DIRECTORY"
)

// Objects returns the directory of the objects of Bucket, whose paths are their keys, in a server's directory.
func Objects(directory string) string { return filepath.Join(directory, "buckets", Bucket) }

// URL returns the URL of a bucket at an address.
func URL(address, bucket string) string {
	return fmt.Sprintf("s3://%s?endpoint=http://%s&region=%s&use_path_style=true", bucket, address, Region)
}

// Server is a server with an empty bucket.
type Server struct {
	// Address is its host and port on the loopback interface, and Directory holds its buckets.
	Address, Directory string

	program string
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// Start starts a server whose program is a file, and waits until it answers. The caller must call Kill.
func Start(program, directory string) (*Server, error) {
	// Few programs use any address of the loopback interface but 127.0.0.1.
	free, err := net.Listen("tcp4", fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)))
	if err != nil {
		return nil, err
	}
	s := &Server{Address: free.Addr().String(), Directory: directory, program: program}
	if err := free.Close(); err != nil {
		return nil, err
	}
	return s, s.Restart()
}

// Restart starts a server that was killed.
func (s *Server) Restart() error {
	s.process = exec.Command(s.program)
	s.process.Env = append(os.Environ(), AddressVariable+"="+s.Address, DirectoryVariable+"="+s.Directory)
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		return err
	}
	process, ended := s.process, make(chan struct{})
	s.ended = ended
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	for tick := time.Tick(20 * time.Millisecond); ; {
		if r, err := http.Get("http://" + s.Address + Health); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick:
		case <-ended:
			return errors.New("the S3 server has ended")
		}
	}
}

// Kill ends the server's process at once, wherever it is, and waits until it is gone.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}
