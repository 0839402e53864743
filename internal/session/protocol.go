package session

import (
	"fmt"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// protocolVersion is the version of the protocol that this program speaks.
	// See docs/design/2026-11-22-protocol-version.md for when to raise it.
	protocolVersion = 3
	// minProtocolVersion is the lowest version of the other end that this program works with.
	minProtocolVersion = 1
)

// Protocol returns what this program speaks.
func Protocol() *sessionpb.Protocol {
	return &sessionpb.Protocol{Version: protocolVersion, MinVersion: minProtocolVersion}
}

// CheckProtocol returns an error unless a pod and a manager can work together.
// The error names both versions, and says what to do.
func CheckProtocol(pod, manager *sessionpb.Protocol) error {
	older := ""
	switch {
	case pod.GetVersion() < manager.GetMinVersion():
		older = "pod"
	case manager.GetVersion() < pod.GetMinVersion():
		older = "manager"
	default:
		return nil
	}
	return fmt.Errorf("session protocol mismatch: the pod speaks version %d and needs a manager with at least version %d, "+
		"the manager speaks version %d and needs pods with at least version %d. The %s's image is from an older release of Assay. "+
		"Create the run again; if that fails too, install the manager, the agent and assay-load from one release",
		pod.GetVersion(), pod.GetMinVersion(), manager.GetVersion(), manager.GetMinVersion(), older)
}
