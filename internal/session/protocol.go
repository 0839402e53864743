package session

import "fmt"

// ProtocolVersion is the version of the protocol. A pod and a manager work together if they have the same.
const ProtocolVersion = 1

// CheckProtocol returns an error unless a pod and a manager have the same version of the protocol. The error names both,
// and says what to do.
func CheckProtocol(pod, manager uint32) error {
	if pod == manager {
		return nil
	}
	return fmt.Errorf("session protocol mismatch: the pod speaks version %d, the manager version %d. "+
		"Create the run again; if that fails too, install the manager, the agent and assay-load from one release", pod, manager)
}
