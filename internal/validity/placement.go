package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// The values of Declared.Placement.
const (
	// PlacementApart: clients must not run on the target's node.
	PlacementApart = "Apart"
	// PlacementTogether: clients must run on the target's node.
	PlacementTogether = "Together"
)

// besideTarget returns the clients on the target's node.
func besideTarget(r *result.Result) []*result.Client {
	var beside []*result.Client
	for i := range r.Clients {
		if node := r.Clients[i].Node; node != "" && node == r.Environment.TargetNode {
			beside = append(beside, &r.Clients[i])
		}
	}
	return beside
}

// sharedNode finds clients on the target's node. It comes last of its severity: on a cluster with one node
// it is in every result, and says less than the others. A run that asks for it has thereby accepted it.
func sharedNode(r *result.Result, d Declared) *result.Finding {
	beside := besideTarget(r)
	if len(beside) == 0 {
		return nil
	}
	ran := fmt.Sprintf("%s ran on the target's node %s.", ofClients(len(beside), r), r.Environment.TargetNode)
	switch d.Placement {
	case PlacementApart:
		return found(ReasonSharedNode, result.Invalidates,
			"%s But spec.clients.placement is Apart. Find out what changed or bound the clients' pods, such as an admission webhook, and create the run again.", ran)
	case PlacementTogether:
		return found(ReasonSharedNode, result.Accepted, "%s The run asks for it with spec.clients.placement Together.", ran)
	}
	return found(ReasonSharedNode, result.Warns,
		"%s They share its caches and memory bandwidth with the target, and their requests crossed no network. Use other nodes for the clients, which spec.clients.placement Apart requires, or accept it.", ran)
}

// sharedCore finds clients that could run on another thread of a core (SMT) than the target's exclusive
// CPUs. Exclusive CPUs are threads: nothing else runs on them, but what runs on their siblings uses the same
// core. Shared CPUs are a finding of their own.
func sharedCore(r *result.Result) *result.Finding {
	var shared []string
	first, clients := "", map[int]bool{}
	for _, c := range r.Containers() {
		own, err := result.ParseCPUs(c.CPUs)
		cores, coresErr := result.ParseCPUs(c.Cores)
		if err != nil || coresErr != nil || c.CPUExclusivity != cpusExclusive {
			continue
		}
		hit, siblings := false, cores.Without(own)
		for _, client := range besideTarget(r) {
			if cpus, err := result.ParseCPUs(client.CPUs); err == nil && cpus.Overlaps(siblings) {
				if len(clients) == 0 {
					first = fmt.Sprintf("client %d on CPUs %s", client.Index, client.CPUs)
				}
				hit, clients[client.Index] = true, true
			}
		}
		if hit {
			shared = append(shared, fmt.Sprintf("%s on CPUs %s, whose cores have the CPUs %s", c.Name, c.CPUs, c.Cores))
		}
	}
	if len(shared) == 0 {
		return nil
	}
	return found(ReasonSharedCore, result.Warns,
		"%s (first: %s) could run on threads of the target's cores (%s). Two threads of a core slow each other down. "+
			"Use other nodes for the clients, or whole cores: the kubelet's cpuManagerPolicyOptions with full-pcpus-only, and as many CPUs as cores have threads, or a multiple.",
		ofClients(len(clients), r), first, strings.Join(shared, "; "))
}
