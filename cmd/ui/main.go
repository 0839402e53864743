// Command ui serves the pages of "kubectl assay ui" from a pod, to many users. It has no rights of its own: each user logs
// in with a token, with which the pages ask the API server.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/assay-dev/assay/internal/plugin/ui"
)

// version is the version of the image; set at build time.
var version = "dev"

// options are those of the command line.
type options struct {
	url, address     string
	apiServer, ca    string
	certificate, key string
	maxSessions      int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ui:", err)
		os.Exit(1) //nolint:gocritic // stop only restores the signal handlers of a process that exits
	}
}

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "ui --url URL",
		Short: "Serve runs and Benchmarks to the browsers of many users",
		Long: `Serves the pages of "kubectl assay ui" to many users. Each logs in with a token that
the API server accepts, or comes through a proxy that adds one as a bearer token. The
pages can do what the token's user can do, no more. The program has no credentials of
its own, and keeps tokens in memory only, until a session ends: after 30 minutes
without a page that is open, after 12 hours, or when the user logs out.`,
		Example: `  # Behind an Ingress that ends TLS
  ui --url https://assay.example.com

  # With a certificate of its own
  ui --url https://assay.example.com --tls-cert-file tls.crt --tls-private-key-file tls.key`,
		Args:          cobra.NoArgs,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := c.Flags()
	f.StringVar(&o.url, "url", "", "URL by which browsers reach the pages, such as https://assay.example.com; http for localhost only (required)")
	f.StringVar(&o.address, "bind-address", ":8080", "address to listen on")
	f.StringVar(&o.apiServer, "api-server", apiServer(), "URL of the API server; defaults to that of the pod's cluster")
	f.StringVar(&o.ca, "certificate-authority", "", "file with the CA bundle of the API server's certificate; the system's if not set")
	f.StringVar(&o.certificate, "tls-cert-file", "", "file with the certificate of the pages; without one they are served without TLS, for a proxy that ends it")
	f.StringVar(&o.key, "tls-private-key-file", "", "file with the key of the certificate")
	f.IntVar(&o.maxSessions, "max-sessions", 20, "largest number of sessions at a time, each of which keeps the runs that its user may list in memory")
	cobra.CheckErr(c.MarkFlagRequired("url"))
	return c
}

// apiServer returns the URL of the API server as Kubernetes announces it to pods, or nothing outside of one.
func apiServer() string {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(host, port)
}

func (o *options) run(ctx context.Context) error {
	switch {
	case o.apiServer == "":
		return errors.New("--api-server is required outside of a pod")
	case o.maxSessions < 1:
		return fmt.Errorf("--max-sessions %d must be at least 1", o.maxSessions)
	case (o.certificate == "") != (o.key == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file belong together: set both, or none")
	}
	config := &rest.Config{Host: o.apiServer, UserAgent: "assay-ui/" + version, TLSClientConfig: rest.TLSClientConfig{CAFile: o.ca}}
	portal, err := ui.NewPortal(o.url, ui.NewLogin(config), o.maxSessions)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	listener, err := (&net.ListenConfig{KeepAlive: time.Minute}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return fmt.Errorf("--bind-address: %w", err)
	}
	if o.certificate != "" {
		watcher, err := certwatcher.New(o.certificate, o.key)
		if err != nil {
			return fmt.Errorf("read the certificate: %w", err)
		}
		go func() { _ = watcher.Start(ctx) }() // it ends with the context
		listener = tls.NewListener(listener, &tls.Config{GetCertificate: watcher.GetCertificate, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	fmt.Fprintf(os.Stderr, "ui: serving %s on %s\n", o.url, listener.Addr())
	return portal.Serve(ctx, listener)
}
