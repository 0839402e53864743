package native

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/assay-dev/assay/hack/cluster/host"
)

// hostAddress returns the source address of the default route. It sends no packets.
func hostAddress() (string, error) {
	conn, err := net.Dial("udp4", "192.0.2.1:9")
	if err != nil {
		return "", fmt.Errorf("find an IPv4 address for the node: %w", err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP.String(), nil
}

// masquerade lets pods reach addresses outside the cluster with the host's
// address. The rules have a table of their own, which `down` deletes.
func masquerade() error {
	rules := fmt.Sprintf(`
table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		ip saddr %[2]s ip daddr != { %[2]s, %[3]s, %[4]s } fib daddr type != local masquerade
	}
}
`, networkName, podRange, serviceRange, linkRange)
	if err := inNetwork("", rules, "nft", "-f", "-"); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// removeNetfilterTables deletes the tables of the cluster and of kube-proxy.
func removeNetfilterTables() error {
	return host.RemoveTables(func(_, _, name string) bool { return name == networkName || name == "kube-proxy" })
}

// waitForInterfaces waits until the kernel has removed the interfaces of the first node's
// pods, which it does shortly after the last process of their namespaces has exited.
func waitForInterfaces(limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		interfaces, err := net.Interfaces()
		if err != nil {
			return err
		}
		var left []string
		for _, i := range interfaces {
			addresses, err := i.Addrs()
			if err != nil {
				continue // removed in the meantime
			}
			for _, address := range addresses {
				if strings.HasPrefix(address.String(), firstNode.gateway+"/") {
					left = append(left, i.Name)
				}
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("interfaces %s still exist", strings.Join(left, ", "))
		}
	}
}
