package sessioncertificate

import (
	"bytes"
	"crypto/tls"
	"errors"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Source is where the manager has its certificate from: a Keeper, which makes
// it, or a Loader, which takes what somebody else has put into a Secret.
type Source interface {
	// Authority is the certificates, in PEM, by which pods check the manager. It
	// is nil while there is no certificate.
	Authority() []byte
	// Changed tells when Authority returns something else than before.
	Changed() <-chan event.GenericEvent
	// TLSConfig is how the manager serves sessions: always with the newest
	// certificate that pods trust.
	TLSConfig() *tls.Config
	// SetupWithManager starts the source with the manager.
	SetupWithManager(mgr ctrl.Manager) error
}

// holder holds the certificate that is served. It is to be made by newHolder.
type holder struct {
	current atomic.Pointer[bundle]
	changed chan event.GenericEvent
}

// newHolder makes a holder without a certificate. Its channel holds one event:
// whoever reads it looks at the newest authority, however often that changed.
func newHolder() holder { return holder{changed: make(chan event.GenericEvent, 1)} }

// Authority implements Source.
func (h *holder) Authority() []byte {
	if b := h.current.Load(); b != nil {
		return b.authority
	}
	return nil
}

// Changed implements Source.
func (h *holder) Changed() <-chan event.GenericEvent { return h.changed }

// TLSConfig implements Source.
func (h *holder) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			b := h.current.Load()
			if b == nil {
				return nil, errors.New("there is no session certificate yet")
			}
			return &b.serving, nil
		},
	}
}

// serve serves with b from now on.
func (h *holder) serve(b *bundle) {
	if before := h.current.Swap(b); before != nil && bytes.Equal(before.authority, b.authority) {
		return
	}
	select {
	case h.changed <- event.GenericEvent{}:
	default:
	}
}
