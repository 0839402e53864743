package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/assay-dev/assay/internal/door"
	"github.com/assay-dev/assay/internal/plugin/ui"
)

// pagesCommand is the first argument that makes the program serve the pages of "kubectl assay ui" to many users. They are
// in the manager's program because most of what both consist of is the same. They have no rights of their own: the API
// server is asked with the token of the user who sent a request.
const pagesCommand = "ui"

// pages are the options of the pages' server.
type pages struct {
	url, address     string
	apiServer, ca    string
	certificate, key string
}

// runPages serves the pages until the process is stopped.
func runPages(args []string) error {
	var o pages
	f := flag.NewFlagSet(pagesCommand, flag.ExitOnError)
	f.StringVar(&o.url, "url", "", "URL by which browsers reach the pages, such as https://assay.example.com; http for localhost only. Required.")
	f.StringVar(&o.address, "bind-address", ":8080", "Address to listen on.")
	f.StringVar(&o.apiServer, "api-server", apiServer(), "URL of the API server. Defaults to that of the pod's cluster.")
	f.StringVar(&o.ca, "certificate-authority", "", "File with the CA bundle of the API server's certificate. Defaults to the system's.")
	f.StringVar(&o.certificate, "tls-cert-file", "", "File with the certificate of the pages. Without one they are served without TLS, for a proxy that ends it.")
	f.StringVar(&o.key, "tls-private-key-file", "", "File with the key of the certificate.")
	f.BoolFunc("version", "Print the version and exit.", printVersion)
	_ = f.Parse(args) // it exits
	return o.serve(ctrl.SetupSignalHandler())
}

// apiServer returns the URL of the API server as Kubernetes announces it to pods, or nothing outside of one.
func apiServer() string {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(host, port)
}

func (o *pages) serve(ctx context.Context) error {
	switch {
	case o.apiServer == "":
		return errors.New("--api-server is required outside of a pod")
	case (o.certificate == "") != (o.key == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file belong together: set both, or none")
	}
	config := &rest.Config{Host: o.apiServer, UserAgent: "assay-ui/" + version, TLSClientConfig: rest.TLSClientConfig{CAFile: o.ca}}
	portal, err := ui.NewPortal(o.url, ui.NewLogin(config))
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	listener, err := (&net.ListenConfig{KeepAlive: time.Minute}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return fmt.Errorf("--bind-address: %w", err)
	}
	listener = door.Listen(listener, door.Browsers)
	if o.certificate != "" {
		watcher, err := certwatcher.New(o.certificate, o.key)
		if err != nil {
			return fmt.Errorf("read the certificate: %w", err)
		}
		go func() { _ = watcher.Start(ctx) }() // it ends with the context
		listener = tls.NewListener(listener, &tls.Config{GetCertificate: watcher.GetCertificate, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	ctrl.Log.Info("Serving pages", "url", o.url, "address", listener.Addr().String())
	return portal.Serve(ctx, listener)
}
