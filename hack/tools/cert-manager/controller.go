package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/metrics"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

// issuance runs the imported controllers, which register themselves.
type issuance struct {
	options     controller.ContextOptions
	workers     int
	metricsAddr string
	healthAddr  string
	logging     *logsapi.LoggingConfiguration
}

func newController() (component, error) {
	return &issuance{logging: logsapi.NewLoggingConfiguration()}, nil
}

// addFlags defines flags with cert-manager's names and defaults.
func (i *issuance) addFlags(flags *pflag.FlagSet) {
	o := &i.options
	flags.StringVar(&o.ClusterResourceNamespace, "cluster-resource-namespace", "kube-system", "Namespace of the Secrets that ClusterIssuers refer to.")
	flags.BoolVar(&o.EnableOwnerRef, "enable-certificate-owner-ref", false, "Whether a Certificate owns its Secret.")
	flags.StringSliceVar(&o.CopiedAnnotationPrefixes, "copied-annotation-prefixes",
		[]string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"},
		"Prefixes of the annotations to copy from a Certificate to its CertificateRequests. A leading dash excludes a prefix.")
	flags.DurationVar(&o.CertificateRequestMinimumBackoffDuration, "certificate-request-minimum-backoff-duration", time.Hour,
		"Backoff after the first failure of a request.")
	flags.DurationVar(&o.CertificateRequestMaximumBackoffDuration, "certificate-request-maximum-backoff-duration", 32*time.Hour,
		"Maximum backoff after repeated failures of a request.")
	flags.IntVar(&i.workers, "concurrent-workers", 5, "Number of workers of each controller.")
	flags.StringVar(&i.metricsAddr, "metrics-listen-address", "0.0.0.0:9402", "Listen address of the metrics.")
	flags.StringVar(&i.healthAddr, "internal-healthz-listen-address", "0.0.0.0:9403", "Listen address of /livez.")
	_ = flags.String("acme-http01-solver-image", "", "Ignored: the ACME issuer is not included.")
	logf.AddFlags(i.logging, flags)
}

func (i *issuance) run(ctx context.Context) error {
	if err := logf.ValidateAndApply(i.logging); err != nil {
		return fmt.Errorf("set up logging: %w", err)
	}
	// When one goroutine fails, the group cancels ctx, which stops the others.
	group, ctx := errgroup.WithContext(ctx)
	factory, err := controller.NewContextFactory(ctx, i.options)
	if err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	listener, err := net.Listen("tcp", i.metricsAddr)
	if err != nil {
		return fmt.Errorf("listen for metrics: %w", err)
	}
	metrics := shared.Metrics.NewServer(listener)
	group.Go(func() error { return ignoreClosed(metrics.Serve(listener)) })
	group.Go(func() error { <-ctx.Done(); return metrics.Close() })

	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(http.ResponseWriter, *http.Request) {}) // 200 while the process runs
	health := &http.Server{Addr: i.healthAddr, ReadHeaderTimeout: 10 * time.Second, Handler: mux}
	group.Go(func() error { return ignoreClosed(health.ListenAndServe()) })
	group.Go(func() error { <-ctx.Done(); return health.Close() })

	group.Go(func() error { return i.control(ctx, factory, shared) })
	if err := group.Wait(); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

// errStopped is the error of control if the controllers ended without one, so that the servers stop.
var errStopped = errors.New("the controllers were stopped")

// control runs all controllers until ctx is done or one of them fails.
func (i *issuance) control(ctx context.Context, factory *controller.ContextFactory, shared *controller.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for name, construct := range controller.Known() {
		c, err := construct(factory)
		if err != nil {
			return fmt.Errorf("set up the controller %s: %w", name, err)
		}
		group.Go(func() error {
			if err := c.Run(i.workers, ctx); err != nil {
				return fmt.Errorf("run the controller %s: %w", name, err)
			}
			return nil
		})
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	if err := group.Wait(); err != nil {
		return err
	}
	return errStopped
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
