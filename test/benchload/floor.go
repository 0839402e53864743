package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// floorName is the name of a client in this program that makes the system calls of a request and nothing else: it reads no
// clock, counts bytes instead of parsing responses, and neither records nor schedules. What it takes is the kernel's
// share, as long as the order in which a client serves its connections doesn't matter: with thousands it does.
const floorName = "floor"

// floorTool returns that client, which is this program.
func floorTool() tool {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return tool{
		name: floorName, program: program, http1: true, withoutTLS: true, arguments: floorArguments, parse: parseFloor,
		// The runtime would otherwise interrupt the loop, which never yields.
		environment: []string{"GODEBUG=asyncpreemptoff=1", "GOGC=off"},
	}
}

func floorArguments(l *load) ([]string, error) {
	return []string{floorName, "-c", strconv.Itoa(l.connections), "-d", l.duration.String(), fmt.Sprintf("-k=%t", l.keepAlive), l.url[strings.Index(l.url, "//")+2:]}, nil
}

// floorLoop is the state of that client.
type floorLoop struct {
	address syscall.RawSockaddrInet4
	request []byte
	poller  int
	keep    bool
	length  int           // of a response, which all have
	got     [64 << 10]int // bytes of the current response by socket
	buffer  [64 << 10]byte
	done    int64
}

// floorMain runs the client. args are those of floorArguments.
func floorMain(args []string) (figures, error) {
	flags := flag.NewFlagSet(floorName, flag.ContinueOnError)
	connections := flags.Int("c", 25, "Connections.")
	duration := flags.Duration("d", 3*time.Second, "Duration.")
	keep := flags.Bool("k", true, "Keep connections.")
	if err := flags.Parse(args); err != nil {
		return figures{}, err
	}
	host, path, _ := bytes.Cut([]byte(flags.Arg(0)), []byte("/"))
	address, err := netip.ParseAddrPort(string(host))
	if err != nil {
		return figures{}, err
	}
	l := &floorLoop{keep: *keep}
	l.address = syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: address.Port()>>8 | address.Port()<<8, Addr: address.Addr().As4()}
	connection := ""
	if !l.keep {
		connection = "Connection: close\r\n"
	}
	l.request = fmt.Appendf(nil, "GET /%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, connection)
	if l.poller, err = syscall.EpollCreate1(0); err != nil {
		return figures{}, err
	}
	start := time.Now()
	for range *connections {
		if err := l.open(); err != nil {
			return figures{}, err
		}
	}
	if err := l.run(start.Add(*duration)); err != nil {
		return figures{}, err
	}
	return figures{requests: l.done, seconds: time.Since(start).Seconds()}, nil
}

// call makes a system call without telling Go's scheduler. EAGAIN is -1 without an error.
func call(trap, a, b, c, d, e uintptr) (int, error) {
	n, _, errno := syscall.RawSyscall6(trap, a, b, c, d, e, 0)
	switch errno {
	case 0:
		return int(n), nil
	case syscall.EAGAIN, syscall.EINPROGRESS, syscall.EINTR:
		return -1, nil
	}
	return 0, errno
}

// open opens a connection and sends a request. On loopback, a connection exists when connect has returned.
func (l *floorLoop) open() error {
	s, err := call(syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0, 0, 0)
	if err != nil {
		return err
	}
	if _, err := call(syscall.SYS_CONNECT, uintptr(s), uintptr(unsafe.Pointer(&l.address)), unsafe.Sizeof(l.address), 0, 0); err != nil {
		return err
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(s)}
	if _, err := call(syscall.SYS_EPOLL_CTL, uintptr(l.poller), syscall.EPOLL_CTL_ADD, uintptr(s), uintptr(unsafe.Pointer(&event)), 0); err != nil {
		return err
	}
	l.got[s] = 0
	return l.send(s)
}

func (l *floorLoop) send(s int) error {
	n, err := call(syscall.SYS_SENDTO, uintptr(s), uintptr(unsafe.Pointer(&l.request[0])), uintptr(len(l.request)), syscall.MSG_NOSIGNAL, 0)
	if err == nil && n != len(l.request) {
		err = errors.New("a request was sent partly")
	}
	return err
}

// run makes requests until a time, which it compares with the clock about once per millisecond.
func (l *floorLoop) run(until time.Time) error {
	var events [256]syscall.EpollEvent
	for round := 0; round%64 != 0 || time.Now().Before(until); round++ {
		n, err := call(syscall.SYS_EPOLL_PWAIT, uintptr(l.poller), uintptr(unsafe.Pointer(&events)), uintptr(len(events)), 1000, 0)
		if err != nil {
			return err
		}
		for i := range max(n, 0) {
			if err := l.receive(int(events[i].Fd)); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive reads what has arrived on a socket, and sends the next request after the end of a response.
func (l *floorLoop) receive(s int) error {
	n, err := call(syscall.SYS_RECVFROM, uintptr(s), uintptr(unsafe.Pointer(&l.buffer)), uintptr(len(l.buffer)), 0, 0)
	if err != nil || n < 0 {
		return err
	}
	if l.length == 0 {
		if l.length, err = responseLength(l.buffer[:n]); err != nil {
			return err
		}
	}
	got := l.got[s] + n
	switch {
	case n == 0: // the server closed the connection
		if got != l.length {
			return fmt.Errorf("a response of %d bytes instead of %d", got, l.length)
		}
		l.done++
		if _, err := call(syscall.SYS_CLOSE, uintptr(s), 0, 0, 0, 0); err != nil {
			return err
		}
		return l.open()
	case l.keep && got == l.length:
		l.done++
		l.got[s] = 0
		return l.send(s)
	}
	l.got[s] = got
	return nil
}

// responseLength returns the length of a response from its head.
func responseLength(b []byte) (int, error) {
	head := bytes.Index(b, []byte("\r\n\r\n"))
	_, after, ok := bytes.Cut(b, []byte("Content-Length: "))
	if head < 0 || !ok || !bytes.HasPrefix(b, []byte("HTTP/1.1 200 ")) {
		return 0, fmt.Errorf("response %.100q", b)
	}
	text, _, _ := bytes.Cut(after, []byte("\r"))
	body, err := strconv.Atoi(string(text))
	return head + 4 + body, err
}

func parseFloor(output string) (figures, error) {
	return parseFigures(output, `^(\d+) requests in `, `^\d+ requests in (\S+)`)
}

func runFloor(args []string) {
	f, err := floorMain(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
	fmt.Printf("%d requests in %.3fs\n", f.requests, f.seconds)
}
