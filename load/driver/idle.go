package driver

import (
	"syscall"
)

// shed closes a connection on which nothing was asked for a while if the server
// has closed it meanwhile, as servers do with idle ones: a request on it could
// only fail, and that would be no failure of the server's.
func (c *connection) shed() {
	if c.shared != nil {
		return // its reader knows
	}
	if c.socket == nil || c.transport == nil {
		return
	}
	ended := false
	err := c.socket.raw.Control(func(fd uintptr) {
		var next [1]byte
		n, _, err := syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		ended = err == nil && n == 0 || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
	})
	if err != nil || ended {
		c.drop()
	}
}
