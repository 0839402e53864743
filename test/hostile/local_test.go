package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// localSecret is the token that a local manager accepts, with a suffix that says which run's client it belongs to.
const localSecret = "local"

// local is a manager in this process.
type local struct {
	*manager.Server
	target *target
	stop   func()
}

// startLocal starts a manager.
func startLocal() (*local, error) {
	certificate, roots, err := newCertificate()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	identify := func(_ context.Context, token string) (manager.Identity, error) {
		name, ok := strings.CutPrefix(token, localSecret+"/")
		if !ok {
			return manager.Identity{}, fmt.Errorf("%w: not the token", manager.ErrUnauthenticated)
		}
		return manager.Identity{Run: name, Role: sessionpb.Role_ROLE_CLIENT, Pod: name, PodUID: name, Node: "node"}, nil
	}
	server := manager.New(identify, func(string) {}, logr.Discard())
	server.ConnectionsPerAddress = 1 << 16 // the attacks are tried, not how many connections an address may open
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(ctx, listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	}()
	var attempts atomic.Int64
	return &local{
		Server: server,
		stop:   func() { cancel(); <-served },
		target: &target{
			address: listener.Addr().String(), roots: roots,
			// Each attempt has a run of its own: a pod that was rejected once is rejected for good.
			newToken: func() (string, func(), error) {
				name := fmt.Sprint("run-", attempts.Add(1))
				return localSecret + "/" + name, func() { server.Forget(name) }, nil
			},
		},
	}, nil
}

func newCertificate() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{session.ServerName}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots, nil
}
