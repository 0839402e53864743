package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"

	"github.com/assay-dev/assay/internal/cipher"
)

// secureFloor holds what a floorLoop needs for TLS. Package crypto/tls blocks while it waits for bytes, so that each connection runs in a
// coroutine, as in assay-load. Writes are sent before the next read: the last flight of a handshake and the first request are one segment.
type secureFloor struct {
	config   tls.Config
	bySocket map[int]*floorConn
}

// newSecureFloor returns a secureFloor that offers a list of groups. It tunes the garbage collector as assay-load does for handshakes.
func newSecureFloor(groups string) (*secureFloor, error) {
	f := &secureFloor{config: tls.Config{InsecureSkipVerify: true}, bySocket: map[int]*floorConn{}}
	if groups == "" {
		groups = "X25519"
	}
	for name := range strings.SplitSeq(groups, ",") {
		id, err := cipher.GroupID(name)
		if err != nil {
			return nil, err
		}
		f.config.CurvePreferences = append(f.config.CurvePreferences, id)
	}
	debug.SetGCPercent(400)
	runtime.GOMAXPROCS(2)
	return f, nil
}

// floorConn is the TCP connection below TLS. Of net.Conn it has the methods that crypto/tls calls.
type floorConn struct {
	net.Conn
	loop *floorLoop
	fd   int
	// ready reports whether bytes may have arrived since the last read.
	ready bool
	// unsent holds the bytes that were written since the last read.
	unsent []byte
	// yield makes the coroutine wait for an event, and resume runs it until it waits again or fails.
	yield  func(error) bool
	resume func() (error, bool)
}

// connectSecure starts to make requests on one connection after the other.
func (l *floorLoop) connectSecure() error {
	c := &floorConn{loop: l}
	c.resume, _ = iter.Pull(func(yield func(error) bool) {
		c.yield = yield
		for {
			if err := c.serve(); err != nil {
				yield(err)
				return
			}
		}
	})
	err, _ := c.resume()
	return err
}

// handleSecure handles an event of a socket.
func (l *floorLoop) handleSecure(fd int) error {
	c := l.secure.bySocket[fd]
	c.ready = true
	err, _ := c.resume()
	return err
}

// serve opens a connection and makes one request on it, or all of them.
func (c *floorConn) serve() error {
	l := c.loop
	var err error
	if c.fd, err = l.connect(); err != nil {
		return err
	}
	l.secure.bySocket[c.fd] = c
	c.ready, c.unsent = false, c.unsent[:0]
	conn := tls.Client(c, &l.secure.config)
	if err := conn.Handshake(); err != nil {
		return err
	}
	for {
		if _, err := conn.Write(l.request); err != nil {
			return err
		}
		for got := 0; got == 0 || got != l.length; {
			n, err := conn.Read(l.buffer[:])
			if err != nil {
				return fmt.Errorf("after %d bytes of a response: %w", got, err)
			}
			if l.length == 0 {
				if l.length, err = responseLength(l.buffer[:n]); err != nil {
					return err
				}
			}
			if got += n; got > l.length {
				return fmt.Errorf("a response of %d bytes instead of %d", got, l.length)
			}
		}
		l.done++
		if !l.keep {
			break
		}
	}
	if _, err := conn.Read(l.buffer[:]); !errors.Is(err, io.EOF) { // close_notify
		return fmt.Errorf("after a response: %w", err)
	}
	c.ready = true // the end of the connection may have arrived with it
	if _, err := c.Read(l.buffer[:]); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after close_notify: %w", err)
	}
	_, err = call(syscall.SYS_CLOSE, uintptr(c.fd), 0, 0, 0, 0)
	return err
}

func (c *floorConn) Write(p []byte) (int, error) {
	c.unsent = append(c.unsent, p...)
	return len(p), nil
}

func (c *floorConn) Read(p []byte) (int, error) {
	if len(c.unsent) > 0 {
		if err := sendAll(c.fd, c.unsent); err != nil {
			return 0, err
		}
		c.unsent = c.unsent[:0]
	}
	for {
		if !c.ready {
			c.yield(nil)
		}
		n, err := call(syscall.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0)
		c.ready = n == len(p)
		switch {
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		case n > 0:
			return n, nil
		}
	}
}
