package driver

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"
)

// These are the system calls of a nonblocking TCP connection, as few as possible. Unlike packages
// net and syscall they don't notify Go's scheduler of a call that may block. None of them blocks,
// and the scheduler would take the processor away from a goroutine that only opens a connection.

// endpoint is an address in the kernel's format, and the option of connections to it.
type endpoint struct {
	name           unsafe.Pointer
	length, family uintptr
	option         tcpOption
}

// tcpOption is an integer option of a TCP socket (tcp(7)).
type tcpOption struct {
	name  uintptr
	value int32
}

var (
	// noDelay is for connections that carry more than one request or write. Without it, bytes after a
	// handshake's last flight or after the start of a long body would wait for an acknowledgment.
	noDelay = tcpOption{syscall.TCP_NODELAY, 1}
	// acknowledgeLater is for connections that carry a single request, written at once. The kernel acknowledges the
	// server's SYN together with it, which saves a segment and the server a wake-up (HAProxy's option
	// tcp-smart-connect does the same).
	acknowledgeLater = tcpOption{syscall.TCP_QUICKACK, 0}
)

func newEndpoint(address netip.AddrPort, option tcpOption) endpoint {
	port := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, address.Port()))
	if ip := address.Addr(); !ip.Is4() {
		return endpoint{
			unsafe.Pointer(&syscall.RawSockaddrInet6{Family: syscall.AF_INET6, Port: port, Addr: ip.As16(), Scope_id: zone(ip)}),
			syscall.SizeofSockaddrInet6, syscall.AF_INET6, option,
		}
	}
	return endpoint{
		unsafe.Pointer(&syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: port, Addr: address.Addr().As4()}),
		syscall.SizeofSockaddrInet4, syscall.AF_INET, option,
	}
}

// zone returns the index of an address's network interface, or 0 if it has none.
func zone(ip netip.Addr) uint32 {
	if i, err := net.InterfaceByName(ip.Zone()); err == nil {
		return uint32(i.Index)
	}
	return 0
}

// open returns a socket that is connected to the endpoint or is connecting.
func (e *endpoint) open() (fd int, err error) {
	s, _, errno := syscall.RawSyscall(syscall.SYS_SOCKET, e.family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("socket", errno)
	}
	// The options can't fail on TCP.
	_, _, _ = syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, s, syscall.IPPROTO_TCP, e.option.name, uintptr(unsafe.Pointer(&e.option.value)), unsafe.Sizeof(e.option.value), 0)
	_, _, errno = syscall.RawSyscall(syscall.SYS_CONNECT, s, uintptr(e.name), e.length)
	if errno != 0 && errno != syscall.EINPROGRESS && errno != syscall.EINTR {
		closeSocket(int(s))
		return -1, os.NewSyscallError("connect", errno)
	}
	return int(s), nil
}

// connected reports whether a connect has finished, and the error if it has failed.
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

// receive reads the bytes that have arrived, with the flags of recv(2). It returns EAGAIN
// if there are none, and 0 without an error at the end of the connection.
func receive(fd int, p []byte, flags int) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(flags), 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EAGAIN:
			return 0, syscall.EAGAIN
		case syscall.EINTR:
		default:
			return 0, os.NewSyscallError("recv", errno)
		}
	}
}

// send writes as many bytes as the socket accepts. It returns EAGAIN if that isn't all of them.
func send(fd int, p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[sent])), uintptr(len(p)-sent), syscall.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			sent += int(n)
		case syscall.EAGAIN:
			return sent, syscall.EAGAIN
		case syscall.EINTR:
		default:
			return sent, os.NewSyscallError("send", errno)
		}
	}
	return sent, nil
}

// setLinger is like the method SetLinger of net.TCPConn.
func setLinger(fd, seconds int) error {
	return syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: int32(seconds)})
}

// idleState is the state of a connection without a request in flight.
type idleState uint8

const (
	// usable: nothing has arrived that concerns the next request.
	usable idleState = iota
	// ended: the server has closed or reset the connection.
	ended
	// unrequested: bytes have arrived that respond to no request.
	unrequested
)

// peek returns the state of an idle connection without TLS.
func peek(fd int) idleState {
	var next [1]byte
	n, err := receive(fd, next[:], syscall.MSG_PEEK)
	switch {
	case n > 0:
		return unrequested
	case errors.Is(err, syscall.EAGAIN):
		return usable
	}
	return ended
}

// closeSocket closes a socket. It never blocks.
func closeSocket(fd int) { _, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0) }
