package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// acceptQueueOverflow finds accept queues of the target that were full. The kernel then drops a
// connection's last ACK or its first SYN, and the client waits until one of them is sent again: 200 ms,
// or a second and then twice as long each time (RFC 6298). A queue that was never full drops none, so
// that a single one counts.
func acceptQueueOverflow(r *result.Result, d Declared) *result.Finding {
	u := r.NodeUsage
	if u == nil {
		return nil
	}
	full := u.AcceptQueueLimit > 0 && u.AcceptQueue >= u.AcceptQueueLimit
	overflows, drops := max(u.ListenOverflows, 0), max(u.ListenDrops, 0)
	var said []string
	if overflows > 0 {
		said = append(said, fmt.Sprintf("An accept queue of the target was full %d times when a connection was opened.", overflows))
	}
	if drops > overflows {
		said = append(said, fmt.Sprintf("The target's listening sockets dropped %d connections for other reasons, such as a full queue of half-open connections.", drops-overflows))
	}
	if full {
		said = append(said, fmt.Sprintf("Its fullest accept queue had %d connections when it was sampled, and %d are allowed.", u.AcceptQueue, u.AcceptQueueLimit))
	}
	if len(said) == 0 {
		return nil
	}
	if longest := r.Merged.Latencies.Get(result.Connect).Max(); longest > 0 {
		said = append(said, fmt.Sprintf("Opening a connection took up to %s.", seconds(longest)))
	}
	remedy := "Increase the server's backlog (acceptCount, listenBacklog, backlog or acceptQueueSize) and the node's net.core.somaxconn, reuse connections, or open fewer at a time."
	if connectionsOverLimit(r, d) > 0 {
		remedy = fmt.Sprintf("The server takes none from it while it serves %d (%s): increase that, or open fewer at a time.", d.Connections.Value, d.Connections.Setting)
	}
	return found(ReasonAcceptQueueOverflow, result.Warns,
		"%s Latencies contain waits for a place in the queue, and for packets that were sent again. %s", strings.Join(said, " "), remedy)
}
