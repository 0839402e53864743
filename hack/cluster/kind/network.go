package kind

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/hack/cluster/coredns"
)

// settle gives the nodes of the own image their pod network, which kind's published image brings with it, and
// installs CoreDNS. It returns when both work. It changes nothing on nodes that have all of it. What the API
// server says of a node counts only if the node has reported after a time.
func (c Cluster) settle(ctx context.Context, since time.Time, report func(string, ...any)) error {
	containers, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	for i := range containers {
		if err := c.waitForLease(ctx, nodeName(i), since); err != nil {
			return err
		}
	}
	pods, addresses := map[string]string{}, map[string]string{}
	for i, container := range containers {
		node := "node/" + nodeName(i)
		// A node gets its range of addresses a moment after it has been created.
		for _, condition := range []string{"create", "jsonpath={.spec.podCIDR}"} {
			if _, err := c.kubectl(ctx, "", "wait", node, "--for="+condition, "--timeout=60s"); err != nil {
				return err
			}
		}
		out, err := c.kubectl(ctx, "", "get", node,
			"-o", `jsonpath={.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}`)
		if err != nil {
			return err
		}
		fields := strings.Fields(out)
		if len(fields) != 2 {
			return fmt.Errorf("node %s has no pod range or no address: %q", nodeName(i), out)
		}
		pods[container], addresses[container] = fields[0], fields[1]
	}
	for _, container := range containers {
		var routes strings.Builder
		for _, other := range containers {
			if other != container {
				fmt.Fprintf(&routes, "ip route replace %s via %s\n", pods[other], addresses[other])
			}
		}
		if err := c.onNode(ctx, container, networkScript(pods[container], routes.String())); err != nil {
			return fmt.Errorf("pod network of %s: %w", container, err)
		}
	}
	if _, err := c.kubectl(ctx, coredns.Manifest(dnsServiceIP, domain, firstNode),
		"apply", "--server-side", "--force-conflicts", "--field-manager=assay-cluster", "-f", "-"); err != nil {
		return err
	}
	if _, err := c.kubectl(ctx, "", "wait", "node", "--all", "--for=condition=Ready", "--timeout=60s"); err != nil {
		return err
	}
	report("%-24s ready", strings.Join(containers, ", "))
	if _, err := c.kubectl(ctx, "", "--namespace", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=60s"); err != nil {
		return err
	}
	report("%-24s ready", "coredns")
	return nil
}

// waitForLease waits until a node has renewed its lease after a time.
func (c Cluster) waitForLease(ctx context.Context, node string, after time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		text, err := c.kubectl(ctx, "", "--namespace", "kube-node-lease", "get", "lease", node, "-o", "jsonpath={.spec.renewTime}")
		if err == nil {
			var renewed time.Time
			if renewed, err = time.Parse(time.RFC3339, text); err == nil && renewed.After(after) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s has not reported after %s: %w", node, after.Format(time.TimeOnly), cmp.Or(err, ctx.Err()))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func nodeName(index int) string {
	if index == 0 {
		return firstNode
	}
	return secondNode
}

// networkScript returns the script that connects the pods of a node: each with a veth pair that the node routes, as
// on the native cluster, to those of other nodes by routes, and with the node's address to everything else.
func networkScript(pods, routes string) string {
	return fmt.Sprintf(`set -e
mkdir -p /etc/cni/net.d
cat >/etc/cni/net.d/10-assay.conflist.new <<'END'
{
  "cniVersion": "0.4.0",
  "name": "assay",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": false,
      "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam-state", "ranges": [[{"subnet": %[1]q}]], "routes": [{"dst": "0.0.0.0/0"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
END
mv /etc/cni/net.d/10-assay.conflist.new /etc/cni/net.d/10-assay.conflist
nft -f - <<'END'
table ip assay
delete table ip assay
table ip assay {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		ip saddr %[2]s ip daddr != { %[2]s, %[3]s } fib daddr type != local masquerade
	}
}
END
%[4]s`, pods, podRange, serviceRange, routes)
}

// onNode runs a script in the container of a node.
func (c Cluster) onNode(ctx context.Context, container, script string) error {
	return c.command(ctx, strings.NewReader(script), c.engine(), "exec", "--interactive", container, "sh", "-")
}

func (c Cluster) kubectl(ctx context.Context, in string, args ...string) (string, error) {
	return c.output(ctx, strings.NewReader(in), c.program("kubectl"), append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
}
