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

	"golang.org/x/sys/unix"
)

// floorName is the name of a client in this program that makes the system calls of a request and nothing else: it reads no
// clock, counts bytes instead of parsing responses, and neither records nor schedules. With open load it does read the clock and sets
// timers. What it takes is the kernel's share, as long as the order in which a client serves its connections doesn't matter:
// with thousands it does. With TLS it is that of the kernel and of crypto/tls.
const floorName = "floor"

// floorTool returns that client, which is this program.
func floorTool() tool {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return tool{
		name: floorName, program: program, http1: true, openLoad: true, arguments: floorArguments, parse: parseFloor,
		// The runtime would otherwise interrupt the loop, which never yields.
		environment: []string{"GODEBUG=asyncpreemptoff=1", "GOGC=off"},
	}
}

func floorArguments(l *load) ([]string, error) {
	scheme, rest, _ := strings.Cut(l.url, "://")
	return []string{
		floorName, "-c", strconv.Itoa(l.connections), "-d", l.duration.String(), fmt.Sprintf("-k=%t", l.keepAlive),
		fmt.Sprintf("-tls=%t", scheme == "https"), "-groups", l.groups, "-rate", strconv.Itoa(l.rate), rest,
	}, nil
}

// floorLoop is the state of that client.
type floorLoop struct {
	address syscall.RawSockaddrInet4
	request []byte
	poller  int
	keep    bool
	open    bool          // open load
	free    []int         // sockets without a request, with open load
	length  int           // of a response, which all have
	got     [64 << 10]int // bytes of the current response by socket
	timers  map[int]bool  // descriptors of timers
	secure  *secureFloor  // nil without TLS
	events  [256]syscall.EpollEvent
	buffer  [64 << 10]byte
	done    int64
}

// floorMain runs the client. args are those of floorArguments.
func floorMain(args []string) (figures, error) {
	flags := flag.NewFlagSet(floorName, flag.ContinueOnError)
	connections := flags.Int("c", 25, "Connections.")
	duration := flags.Duration("d", 3*time.Second, "Duration.")
	keep := flags.Bool("k", true, "Keep connections.")
	secure := flags.Bool("tls", false, "Use TLS.")
	groups := flags.String("groups", "", "Groups for the key exchange of TLS.")
	rate := flags.Int("rate", 0, "Requests per second of open load.")
	if err := flags.Parse(args); err != nil {
		return figures{}, err
	}
	host, path, _ := bytes.Cut([]byte(flags.Arg(0)), []byte("/"))
	address, err := netip.ParseAddrPort(string(host))
	if err != nil {
		return figures{}, err
	}
	l := &floorLoop{keep: *keep, open: *rate > 0, timers: map[int]bool{}}
	l.address = syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: address.Port()>>8 | address.Port()<<8, Addr: address.Addr().As4()}
	connection := ""
	if !l.keep {
		connection = "Connection: close\r\n"
	}
	l.request = fmt.Appendf(nil, "GET /%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, connection)
	if l.poller, err = syscall.EpollCreate1(0); err != nil {
		return figures{}, err
	}
	if *secure {
		if l.open {
			return figures{}, errors.New("open load with TLS isn't supported")
		}
		if l.secure, err = newSecureFloor(*groups); err != nil {
			return figures{}, err
		}
	}
	start := time.Now()
	for range *connections {
		if *secure {
			if err := l.connectSecure(); err != nil {
				return figures{}, err
			}
			continue
		}
		s, err := l.connect()
		if err == nil && !l.open {
			err = l.send(s)
		}
		if err != nil {
			return figures{}, err
		}
		l.free = append(l.free, s)
	}
	if l.open {
		err = l.runOpen(*rate, *duration)
	} else {
		err = l.run(start.Add(*duration))
	}
	return figures{requests: l.done, seconds: time.Since(start).Seconds()}, err
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

// connect opens a connection. On loopback, it exists when connect has returned.
func (l *floorLoop) connect() (int, error) {
	s, err := call(syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0, 0, 0)
	if err != nil {
		return 0, err
	}
	if _, err := call(syscall.SYS_CONNECT, uintptr(s), uintptr(unsafe.Pointer(&l.address)), unsafe.Sizeof(l.address), 0, 0); err != nil {
		return 0, err
	}
	l.got[s] = 0
	return s, l.register(s)
}

// register registers a descriptor for edge-triggered events, whose number is the descriptor.
func (l *floorLoop) register(fd int) error {
	const edge = 1 << 31 // EPOLLET, which is negative in package syscall
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | edge, Fd: int32(fd)}
	_, err := call(syscall.SYS_EPOLL_CTL, uintptr(l.poller), syscall.EPOLL_CTL_ADD, uintptr(fd), uintptr(unsafe.Pointer(&event)), 0)
	return err
}

func (l *floorLoop) send(s int) error { return sendAll(s, l.request) }

func sendAll(s int, p []byte) error {
	n, err := call(syscall.SYS_SENDTO, uintptr(s), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), syscall.MSG_NOSIGNAL, 0)
	if err == nil && n != len(p) {
		err = errors.New("a request was sent partly")
	}
	return err
}

// run makes requests until a time, which it compares with the clock about once per millisecond.
func (l *floorLoop) run(until time.Time) error {
	for round := 0; round%64 != 0 || time.Now().Before(until); round++ {
		if err := l.wait(); err != nil {
			return err
		}
	}
	return nil
}

// runOpen makes requests at a rate, for a duration. Each has its own timer, which is set while that of the request before it
// hasn't fired yet, unless the request is due already. A request that is due while no connection is free waits.
func (l *floorLoop) runOpen(rate int, duration time.Duration) error {
	var timers [2]int
	start, connections := time.Now(), len(l.free)
	due := func(request int) time.Duration { return time.Second * time.Duration(request) / time.Duration(rate) }
	set := func(request int) error {
		setting := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(due(request)-time.Since(start))))}
		_, err := call(unix.SYS_TIMERFD_SETTIME, uintptr(timers[request%len(timers)]), 0, uintptr(unsafe.Pointer(&setting)), 0, 0)
		return err
	}
	for i := range timers {
		var err error
		if timers[i], err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC); err != nil {
			return err
		}
		if err = errors.Join(l.register(timers[i]), set(i)); err != nil {
			return err
		}
		l.timers[timers[i]] = true
	}
	for next := 0; due(next) < duration || len(l.free) < connections; {
		for now := time.Since(start); len(l.free) > 0 && due(next) <= min(now, duration-1); next++ {
			last := len(l.free) - 1
			if err := l.send(l.free[last]); err != nil {
				return err
			}
			l.free = l.free[:last]
			if later := next + len(timers); due(later) > now {
				if err := set(later); err != nil {
					return err
				}
			}
		}
		if err := l.wait(); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for events and handles them.
func (l *floorLoop) wait() error {
	n, err := call(syscall.SYS_EPOLL_PWAIT, uintptr(l.poller), uintptr(unsafe.Pointer(&l.events)), uintptr(len(l.events)), ^uintptr(0), 0)
	if err != nil {
		return err
	}
	for i := range max(n, 0) {
		switch fd := int(l.events[i].Fd); {
		case l.timers[fd]:
		case l.secure != nil:
			err = l.handleSecure(fd)
		default:
			err = l.receive(fd)
		}
		if err != nil {
			return err
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
		next, err := l.connect()
		if err != nil {
			return err
		}
		return l.send(next)
	case l.keep && got == l.length:
		l.done++
		l.got[s] = 0
		if l.open {
			l.free = append(l.free, s)
			return nil
		}
		return l.send(s)
	}
	l.got[s] = got
	if got == l.length { // the end of the connection may have arrived too
		return l.receive(s)
	}
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
