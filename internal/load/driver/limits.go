package driver

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/assay-dev/assay/internal/session"
)

// reservedDescriptors are those that the process needs besides its open ones and its connections: files that are read each second, and
// those of each loop.
const (
	reservedDescriptors = 16
	loopDescriptors     = 8
)

// checkLimits returns an error if the process can't have the connections of a closed load, all of which it opens. How many an open
// load needs isn't known before.
func checkLimits(plan *session.Plan) error {
	if plan.Arrivals != nil {
		return nil
	}
	connections := uint64(plan.Connections) * uint64(max(1, plan.UserConnections))
	var limit syscall.Rlimit
	// The soft limit is the hard one already: package os raises it.
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil {
		open, _ := os.ReadDir("/proc/self/fd") // none if it can't be read
		needed := connections + uint64(len(open)+reservedDescriptors+loopDescriptors*runtime.GOMAXPROCS(0))
		if needed > limit.Cur {
			return fmt.Errorf("the load needs %d file descriptors for %d connections, but this process may have only %d: increase its limit (ulimit -n, or the container runtime's), or lower the connections",
				needed, connections, limit.Cur)
		}
	}
	ports, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil
	}
	reserved, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_reserved_ports")
	if available := localPorts(string(ports), string(reserved)); available > 0 && connections > available {
		return fmt.Errorf("the load needs %d local ports for as many connections to one address, but there are only %d: widen net.ipv4.ip_local_port_range, which is %s, or lower the connections",
			connections, available, strings.Join(strings.Fields(string(ports)), " to "))
	}
	return nil
}

// localPorts returns the number of ports in a range as of ip_local_port_range that are not in a list as of ip_local_reserved_ports, or 0
// if that is unknown.
func localPorts(portRange, reserved string) uint64 {
	bounds := strings.Fields(portRange)
	if len(bounds) != 2 {
		return 0
	}
	first, err1 := strconv.Atoi(bounds[0])
	last, err2 := strconv.Atoi(bounds[1])
	if err1 != nil || err2 != nil || last < first {
		return 0
	}
	available := last - first + 1
	for _, part := range strings.Split(strings.TrimSpace(reserved), ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err1 := strconv.Atoi(from)
		b, err2 := a, error(nil)
		if isRange {
			b, err2 = strconv.Atoi(to)
		}
		if err1 == nil && err2 == nil {
			available -= max(0, min(b, last)-max(a, first)+1)
		}
	}
	return uint64(max(available, 0))
}
