package node

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sock_diag(7) answers a request by struct inet_diag_req_v2 with a struct inet_diag_msg for each
// socket (linux/inet_diag.h).
const (
	diagRequestBytes = unix.NLMSG_HDRLEN + 56
	diagMessageBytes = 72
	// diagReadQueue and diagWriteQueue are offsets in inet_diag_msg.
	diagReadQueue  = 56
	diagWriteQueue = 60
	// tcpListen is a state (linux/tcp_states.h).
	tcpListen = 10
)

// sockDiag asks the kernel for the TCP sockets of the network namespace. It keeps its netlink
// socket.
type sockDiag struct {
	fd       int
	buffer   []byte
	sequence uint32 // of the latest request
}

// newSockDiag opens a netlink socket, which needs no privilege. An error means that the kernel
// doesn't have sock_diag, or that a seccomp profile forbids it.
func newSockDiag() (*sockDiag, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// The kernel answers at once or never.
	timeout := unix.Timeval{Sec: 1}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("setsockopt", err)
	}
	return &sockDiag{fd: fd, buffer: make([]byte, 64<<10)}, nil
}

func (d *sockDiag) close() error { return os.NewSyscallError("close", unix.Close(d.fd)) }

// listening calls each with the accept queue of every listening socket of a family: how many
// connections are in it, and how many may be (man 7 sock_diag, idiag_rqueue and idiag_wqueue).
func (d *sockDiag) listening(family uint8, each func(queued, allowed uint32)) error {
	d.sequence++
	request := make([]byte, diagRequestBytes)
	binary.NativeEndian.PutUint32(request[0:], diagRequestBytes)
	binary.NativeEndian.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(request[8:], d.sequence)
	body := request[unix.NLMSG_HDRLEN:]
	body[0], body[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], 1<<tcpListen)
	if err := unix.Sendto(d.fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	for {
		n, _, err := unix.Recvfrom(d.fd, d.buffer, 0)
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		messages, err := syscall.ParseNetlinkMessage(d.buffer[:n])
		if err != nil {
			return fmt.Errorf("read listening sockets: %w", err)
		}
		for _, m := range messages {
			switch {
			case m.Header.Seq != d.sequence: // of a request that timed out
			case m.Header.Type == unix.NLMSG_DONE:
				return nil
			case m.Header.Type == unix.NLMSG_ERROR:
				return fmt.Errorf("read listening sockets: netlink error % x", m.Data)
			case len(m.Data) >= diagMessageBytes:
				each(binary.NativeEndian.Uint32(m.Data[diagReadQueue:]), binary.NativeEndian.Uint32(m.Data[diagWriteQueue:]))
			}
		}
	}
}
