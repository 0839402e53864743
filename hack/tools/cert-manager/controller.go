package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
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

// issuance runs the controllers that are imported above: each registers itself.
type issuance struct {
	options     controller.ContextOptions
	workers     int
	metricsAddr string
	healthAddr  string
	logging     *logsapi.LoggingConfiguration
	election    election
}

func newController() (part, error) {
	return &issuance{logging: logsapi.NewLoggingConfiguration()}, nil
}

// addFlags has cert-manager's names and defaults.
func (i *issuance) addFlags(flags *pflag.FlagSet) {
	o := &i.options
	flags.StringVar(&o.ClusterResourceNamespace, "cluster-resource-namespace", "kube-system", "Namespace of what ClusterIssuers refer to.")
	flags.BoolVar(&o.EnableOwnerRef, "enable-certificate-owner-ref", false, "Make a Certificate the owner of its Secret.")
	flags.StringSliceVar(&o.CopiedAnnotationPrefixes, "copied-annotation-prefixes",
		[]string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"},
		"Prefixes of the annotations that a CertificateRequest takes from its Certificate; those with a dash it doesn't.")
	flags.DurationVar(&o.CertificateRequestMinimumBackoffDuration, "certificate-request-minimum-backoff-duration", time.Hour,
		"How long to wait after the first failure of a request.")
	flags.DurationVar(&o.CertificateRequestMaximumBackoffDuration, "certificate-request-maximum-backoff-duration", 32*time.Hour,
		"How long to wait at most after further failures.")
	flags.IntVar(&i.workers, "concurrent-workers", 5, "Workers of each controller.")
	flags.StringVar(&i.metricsAddr, "metrics-listen-address", "0.0.0.0:9402", "Address of the metrics.")
	flags.StringVar(&i.healthAddr, "internal-healthz-listen-address", "0.0.0.0:9403", "Address of /livez.")
	_ = flags.String("acme-http01-solver-image", "", "Accepted since the chart always sets it. There is no ACME issuer here.")
	i.election.addFlags(flags)
	logf.AddFlags(i.logging, flags)
}

func (i *issuance) run(ctx context.Context) error {
	if err := logf.ValidateAndApply(i.logging); err != nil {
		return fmt.Errorf("set up logging: %w", err)
	}
	// The first part that ends takes the others with it.
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

	alive := leaderelection.NewLeaderHealthzAdaptor(20 * time.Second)
	health := &http.Server{Addr: i.healthAddr, ReadHeaderTimeout: 10 * time.Second, Handler: livez(alive)}
	group.Go(func() error { return ignoreClosed(health.ListenAndServe()) })
	group.Go(func() error { <-ctx.Done(); return health.Close() })

	group.Go(func() error {
		if i.election.enabled {
			return i.lead(ctx, shared, alive, func(ctx context.Context) error { return i.control(ctx, factory, shared) })
		}
		return i.control(ctx, factory, shared)
	})
	if err := group.Wait(); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

// errStopped says that the controllers ended because they were told to, so
// that the servers beside them end, too.
var errStopped = errors.New("the controllers were stopped")

// control runs all controllers until the context ends or one of them fails.
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

// lead calls act while this process is the leader.
func (i *issuance) lead(ctx context.Context, shared *controller.Context, alive *leaderelection.HealthzAdaptor, act func(context.Context) error) error {
	identity, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find a name for the leader's election: %w", err)
	}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, i.election.namespace, "cert-manager-controller",
		resourcelock.ResourceLockConfig{Identity: identity, EventRecorder: shared.Recorder}, shared.RESTConfig, i.election.renewDeadline)
	if err != nil {
		return fmt.Errorf("make the leader's lock: %w", err)
	}
	acted := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   i.election.duration,
		RenewDeadline:   i.election.renewDeadline,
		RetryPeriod:     i.election.retry,
		ReleaseOnCancel: true,
		WatchDog:        alive,
		Name:            "cert-manager-controller",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { acted <- act(ctx) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("set up the leader's election: %w", err)
	}
	elected := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { defer close(elected); elector.Run(ctx) }()
	select {
	case err := <-acted:
		stop()
		<-elected
		return err
	case <-elected:
		if ctx.Err() == nil {
			return errors.New("leadership was lost")
		}
		return errStopped
	}
}

// livez answers 200 unless this process is a leader that can't renew its Lease.
func livez(alive *leaderelection.HealthzAdaptor) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(w http.ResponseWriter, r *http.Request) {
		if err := alive.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
