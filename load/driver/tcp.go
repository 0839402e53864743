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

// The system calls of a TCP connection that never waits: as few as will do, and
// without telling Go's scheduler of calls that may block, as packages net and
// syscall do. None of these blocks, and the scheduler would take the processor
// away from who is only opening a connection.

// endpoint is an address as the kernel has it.
type endpoint struct {
	name           unsafe.Pointer
	length, family uintptr
}

func newEndpoint(address netip.AddrPort) endpoint {
	port := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, address.Port()))
	if ip := address.Addr(); !ip.Is4() {
		return endpoint{
			unsafe.Pointer(&syscall.RawSockaddrInet6{Family: syscall.AF_INET6, Port: port, Addr: ip.As16(), Scope_id: zone(ip)}),
			syscall.SizeofSockaddrInet6, syscall.AF_INET6,
		}
	}
	return endpoint{
		unsafe.Pointer(&syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: port, Addr: address.Addr().As4()}),
		syscall.SizeofSockaddrInet4, syscall.AF_INET,
	}
}

// zone is the number of an address's interface, where it has one.
func zone(ip netip.Addr) uint32 {
	if i, err := net.InterfaceByName(ip.Zone()); err == nil {
		return uint32(i.Index)
	}
	return 0
}

// open returns a socket that connects to the endpoint, or is connected.
func (e *endpoint) open() (fd int, err error) {
	s, _, errno := syscall.RawSyscall(syscall.SYS_SOCKET, e.family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("socket", errno)
	}
	// Without it, what comes behind the end of a handshake or the head of a long
	// body would wait for that to be acknowledged. It can't fail on TCP.
	on := int32(1)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, s, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, uintptr(unsafe.Pointer(&on)), unsafe.Sizeof(on), 0)
	_, _, errno = syscall.RawSyscall(syscall.SYS_CONNECT, s, uintptr(e.name), e.length)
	if errno != 0 && errno != syscall.EINPROGRESS && errno != syscall.EINTR {
		closeSocket(int(s))
		return -1, os.NewSyscallError("connect", errno)
	}
	return int(s), nil
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

// receive reads from a socket what is there, with the flags of recv(2). It
// returns EAGAIN when that is nothing, 0 and no error at the end.
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

// send writes to a socket all that it takes. It returns EAGAIN when that isn't
// everything.
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

// setLinger is net.TCPConn's SetLinger.
func setLinger(fd, seconds int) error {
	return syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: int32(seconds)})
}

// hasEnded is whether the other side has closed a connection on which nothing is
// asked, or broken it.
func hasEnded(fd int) bool {
	var next [1]byte
	n, err := receive(fd, next[:], syscall.MSG_PEEK)
	return n == 0 && !errors.Is(err, syscall.EAGAIN)
}

// closeSocket closes a socket. It never waits.
func closeSocket(fd int) { _, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0) }
