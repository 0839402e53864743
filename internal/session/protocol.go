package session

import "fmt"

// ProtocolVersion is the version of the protocol. A pod and a manager work together if they have the same.
const ProtocolVersion = 1

// WriteBufferBytes is the size of a pod's write buffer. A TLS record isn't larger, and the manager's end of each of a
// thousand connections keeps a buffer of the largest record that it has received.
const WriteBufferBytes = 4 << 10

// CheckProtocol returns an error unless a pod and a manager have the same version of the protocol. The error names both,
// and says what to do.
func CheckProtocol(pod, manager uint32) error {
	if pod == manager {
		return nil
	}
	return fmt.Errorf("session protocol mismatch: the pod speaks version %d, the manager version %d. "+
		"Create the run again; if that fails too, install the manager, the agent and assay-load from one release", pod, manager)
}
