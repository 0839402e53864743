package driver

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// socket is a TCP connection with as few system calls as will do: net.Dial asks
// for both ends' addresses and sets options of which none matters here, and
// packages net and syscall tell the scheduler of each call that may block, which
// none does: it would take the processor away from who is only opening a
// connection.
// Waiting is the runtime poller's, as with any other file.
type socket struct {
	file *os.File
	raw  syscall.RawConn
	// readNow and writeNow are tryRead and tryWrite, buffer, n and err what they
	// work with: one for each direction.
	readNow, writeNow func(fd uintptr) bool
	in, out           transfer
	asking
}

// transfer is a read or a write being made.
type transfer struct {
	buffer []byte
	n      int
	err    error
	flags  uintptr // of recv
}

// dialTCP returns a dialer of an address.
func dialTCP(address netip.AddrPort) dialer {
	name, length, family := sockaddr(address)
	return func(ctx context.Context, deadline time.Time) (transport, error) {
		fd, _, errno := syscall.RawSyscall(syscall.SYS_SOCKET, family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
		if errno != 0 {
			return nil, os.NewSyscallError("socket", errno)
		}
		// Without it, what comes behind the end of a handshake or the head of a long
		// body would wait for that to be acknowledged. It can't fail on TCP.
		on := int32(1)
		_, _, _ = syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, uintptr(unsafe.Pointer(&on)), unsafe.Sizeof(on), 0)
		_, _, errno = syscall.RawSyscall(syscall.SYS_CONNECT, fd, uintptr(name), length)
		if errno != 0 && errno != syscall.EINPROGRESS && errno != syscall.EINTR {
			_ = syscall.Close(int(fd))
			return nil, os.NewSyscallError("connect", errno)
		}
		return newSocket(ctx, int(fd), deadline)
	}
}

// sockaddr is an address as the kernel has it, with its length and family.
func sockaddr(address netip.AddrPort) (name unsafe.Pointer, length, family uintptr) {
	port := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, address.Port()))
	if ip := address.Addr(); !ip.Is4() {
		return unsafe.Pointer(&syscall.RawSockaddrInet6{Family: syscall.AF_INET6, Port: port, Addr: ip.As16(), Scope_id: zone(ip)}),
			syscall.SizeofSockaddrInet6, syscall.AF_INET6
	}
	return unsafe.Pointer(&syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: port, Addr: address.Addr().As4()}),
		syscall.SizeofSockaddrInet4, syscall.AF_INET
}

// zone is the number of an address's interface, where it has one.
func zone(ip netip.Addr) uint32 {
	if i, err := net.InterfaceByName(ip.Zone()); err == nil {
		return uint32(i.Index)
	}
	return 0
}

// newSocket waits for a socket that is connecting, until the deadline or the
// context's end.
func newSocket(ctx context.Context, fd int, deadline time.Time) (*socket, error) {
	s := &socket{file: os.NewFile(uintptr(fd), "")}
	s.readNow, s.writeNow, s.askNow = s.tryRead, s.tryWrite, s.tryAsk
	var err error
	if s.raw, err = s.file.SyscallConn(); err == nil {
		// Over loopback and in a pod's node it is connected by now.
		var done bool
		if done, err = connected(fd); !done {
			err = s.await(ctx, deadline)
		}
	}
	if err != nil {
		_ = s.file.Close() // it isn't connected
		return nil, err
	}
	return s, nil
}

// await waits until the socket is connected.
func (s *socket) await(ctx context.Context, deadline time.Time) error {
	stop := context.AfterFunc(ctx, func() { _ = s.file.Close() })
	defer stop()
	if err := s.file.SetDeadline(deadline); err != nil {
		return err
	}
	s.look = deadline
	var refused error
	err := s.raw.Write(func(fd uintptr) (done bool) {
		done, refused = connected(int(fd))
		return done
	})
	if err != nil {
		return err
	}
	return refused
}

// connected is whether a socket is connected, or can't be.
func connected(fd int) (bool, error) {
	var name syscall.RawSockaddrAny
	length := uint32(syscall.SizeofSockaddrAny)
	_, _, errno := syscall.RawSyscall(syscall.SYS_GETPEERNAME, uintptr(fd), uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&length)))
	if errno == 0 {
		return true, nil
	}
	code, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	switch {
	case err != nil:
		return true, os.NewSyscallError("getsockopt", err)
	case code != 0:
		return true, os.NewSyscallError("connect", syscall.Errno(code))
	}
	return false, nil
}

// SyscallConn gives access to the descriptor, as syscall.Conn has it.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.raw, nil }

func (s *socket) tryRead(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&s.in.buffer[0])), uintptr(len(s.in.buffer)), s.in.flags, 0, 0)
		switch errno {
		case 0:
			s.in.n = int(n)
			return true
		case syscall.EAGAIN:
			s.bound()
			return false
		case syscall.EINTR:
		default:
			s.in.err = os.NewSyscallError("recv", errno)
			return true
		}
	}
}

func (s *socket) tryWrite(fd uintptr) bool {
	for {
		rest := s.out.buffer[s.out.n:]
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)), syscall.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			if s.out.n += int(n); s.out.n == len(s.out.buffer) {
				return true
			}
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			s.out.err = os.NewSyscallError("send", errno)
			return true
		}
	}
}

// Read is as net.Conn's.
func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return s.receive(p, 0)
}

// discard is Read, but throws away what it reads: p only says how much that is
// at most. The kernel does so without copying it (tcp(7), MSG_TRUNC).
func (s *socket) discard(p []byte) (int, error) { return s.receive(p, syscall.MSG_TRUNC) }

func (s *socket) receive(p []byte, flags uintptr) (int, error) {
	s.in = transfer{buffer: p, flags: flags}
	err := s.raw.Read(s.readNow)
	for err != nil && s.extend(err) {
		err = s.raw.Read(s.readNow)
	}
	runtime.KeepAlive(p)
	switch {
	case err != nil:
		return 0, err
	case s.in.err == nil && s.in.n == 0:
		return 0, io.EOF
	}
	return s.in.n, s.in.err
}

// Write is as net.Conn's.
func (s *socket) Write(p []byte) (int, error) {
	switch {
	case s.holding:
		s.held = append(s.held, p...)
		return len(p), nil
	case len(p) == 0:
		return 0, nil
	}
	if !s.limit.IsZero() {
		// It fails only on a closed connection, as the write will.
		_ = s.file.SetWriteDeadline(s.limit)
	}
	s.out = transfer{buffer: p}
	err := s.raw.Write(s.writeNow)
	runtime.KeepAlive(p)
	if err == nil {
		err = s.out.err
	}
	return s.out.n, err
}

// Close is as net.Conn's. It may be called while others read and write.
func (s *socket) Close() error { return s.file.Close() }

// SetLinger is as net.TCPConn's.
func (s *socket) SetLinger(seconds int) error {
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptLinger(int(fd), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: int32(seconds)})
	})
	if err == nil {
		err = failed
	}
	return err
}

// SetDeadline is as net.Conn's. What was asked before has no limit any more; it
// mustn't be called while others read and write.
func (s *socket) SetDeadline(t time.Time) error {
	s.limit, s.look = time.Time{}, time.Time{}
	return s.file.SetDeadline(t)
}

// SetReadDeadline and SetWriteDeadline are as net.Conn's.
func (s *socket) SetReadDeadline(t time.Time) error  { return s.file.SetReadDeadline(t) }
func (s *socket) SetWriteDeadline(t time.Time) error { return s.file.SetWriteDeadline(t) }

// LocalAddr and RemoteAddr are there for crypto/tls, which doesn't call them.
func (s *socket) LocalAddr() net.Addr  { return nil }
func (s *socket) RemoteAddr() net.Addr { return nil }
