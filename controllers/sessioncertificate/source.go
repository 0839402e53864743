package sessioncertificate

import (
	"bytes"
	"crypto/tls"
	"errors"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Source provides the manager's certificate. It is a Keeper, which issues it, or a Loader, which
// reads it from a Secret of somebody else's.
type Source interface {
	// CA returns the CA bundle, in PEM, by which pods verify the manager, or nil before there is
	// one.
	CA() []byte
	// Changed sends an event when the result of CA changes.
	Changed() <-chan event.GenericEvent
	// TLSConfig returns the session server's, with the newest certificate that pods trust.
	TLSConfig() *tls.Config
	// SetupWithManager starts the source with the manager.
	SetupWithManager(mgr ctrl.Manager) error
}

// holder holds the certificate that is served. Use newHolder to create one.
type holder struct {
	current atomic.Pointer[bundle]
	changed chan event.GenericEvent
}

// newHolder returns a holder without a certificate. Its channel buffers one event: the reader uses
// the newest CA, however often that changed.
func newHolder() holder { return holder{changed: make(chan event.GenericEvent, 1)} }

// CA implements Source.
func (h *holder) CA() []byte {
	if b := h.current.Load(); b != nil {
		return b.ca
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
				return nil, errors.New("no session certificate yet")
			}
			return &b.serving, nil
		},
	}
}

func (h *holder) serve(b *bundle) {
	if before := h.current.Swap(b); before != nil && bytes.Equal(before.ca, b.ca) {
		return
	}
	select {
	case h.changed <- event.GenericEvent{}:
	default:
	}
}
