package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	livecontroller "github.com/assay-dev/assay/controllers/live"
	"github.com/assay-dev/assay/controllers/sessioncertificate"
	"github.com/assay-dev/assay/internal/live"
	sessionmanager "github.com/assay-dev/assay/internal/session/manager"
)

// liveEndpoint is the endpoint at which the leader streams the figures of running measurements.
type liveEndpoint struct {
	address     string // empty if it is disabled
	port        int
	certificate sessioncertificate.Source
	serving     atomic.Bool
}

// set sets the address, 0 for none, and the certificate.
func (e *liveEndpoint) set(address string, certificate sessioncertificate.Source) error {
	e.certificate = certificate
	if address == "" || address == "0" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		e.port, err = strconv.Atoi(port)
	}
	if err != nil || e.port < 1 || e.port > 65535 {
		return fmt.Errorf("--live-bind-address is %q: it must be HOST:PORT or 0", address)
	}
	e.address = address
	return nil
}

// annotations returns the annotation of the Lease by which users find the endpoint. It is empty while there is none.
func (e *liveEndpoint) annotations() map[string]string {
	announced := ""
	if e.serving.Load() {
		if ca := e.certificate.CA(); len(ca) > 0 {
			announced = live.Endpoint{Port: e.port, CA: string(ca)}.String()
		}
	}
	return map[string]string{live.EndpointAnnotation: announced}
}

// add makes a manager serve the endpoint while it leads. Nothing of a run depends on it: if it can't be served, the log
// says so, and the manager goes on.
func (e *liveEndpoint) add(mgr ctrl.Manager, clientset kubernetes.Interface, sessions *sessionmanager.Server) error {
	if e.address == "" {
		return nil
	}
	log := ctrl.Log.WithName("live")
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		access, err := livecontroller.NewAccess(ctx, clientset, log)
		if err != nil {
			log.Error(err, "Failed to serve live figures")
			return nil
		}
		listener, err := net.Listen("tcp", e.address)
		if err != nil {
			log.Error(err, "Failed to serve live figures", "address", e.address)
			return nil
		}
		server := &livecontroller.Server{Sessions: sessions, Runs: mgr.GetClient(), Access: access, Log: log}
		e.serving.Store(true)
		defer e.serving.Store(false)
		if err := server.Serve(ctx, listener, e.certificate.TLSConfig()); err != nil {
			log.Error(err, "Stopped serving live figures")
		}
		return nil
	}))
}
