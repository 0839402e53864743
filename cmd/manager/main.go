// Command manager runs the controllers and, on the leader, the session server.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for schedules: the image has no time zones

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/benchmark"
	"github.com/assay-dev/assay/controllers/benchmarkrun"
	"github.com/assay-dev/assay/controllers/leader"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/controllers/sessioncertificate"
	"github.com/assay-dev/assay/internal/manifest"
	sessionmanager "github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/manager/limit"
)

const (
	// certificateSelf and certificateSecret are the values of --session-certificate-source.
	certificateSelf   = "Self"
	certificateSecret = "Secret"
	// disabled is the address of a server that isn't wanted.
	disabled = "0"
)

// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// version is the operator's version. The build sets it.
var version = "development"

type options struct {
	election    election
	namespaces  []string
	metricsAddr string
	healthAddr  string
	pprofAddr   string
	sessionAddr string
	// sessionConnections bounds the connections of an address to the session server.
	sessionConnections int
	namespace          string
	podName            string
	bucketsFile        string
	certificate        string
	secretName         string
	reconciler         manifest.Settings
	zap                zap.Options
	secureMetrics      bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == pagesCommand {
		ctrl.SetLogger(zap.New())
		ctrl.Log.Info("Started the pages", "version", version)
		limitMemory(gcPercent)
		if err := runPages(os.Args[2:]); err != nil {
			ctrl.Log.Error(err, "Pages failed")
			os.Exit(1)
		}
		return
	}
	o := parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.zap)))
	ctrl.Log.Info("Started the manager", "version", version)
	limitMemory(startGCPercent)
	err := run(ctrl.SetupSignalHandler(), o)
	if errors.Is(err, errRestart) {
		ctrl.Log.Info("Starting from scratch", "reason", err.Error())
		err = restart()
	}
	if err != nil {
		ctrl.Log.Error(err, "Manager failed")
		os.Exit(1)
	}
}

func parse() *options {
	o := &options{}
	o.election.bind(flag.CommandLine)
	flag.Func("watch-namespaces", "Namespaces whose runs this manager serves, separated by commas. It serves those of all namespaces if it is omitted.", parsed(&o.namespaces, readList))
	flag.StringVar(&o.metricsAddr, "metrics-bind-address", ":8443", "Address of the metrics endpoint, or 0 to disable it.")
	flag.BoolVar(&o.secureMetrics, "metrics-secure", true, "Serve metrics over HTTPS, and only to clients that RBAC allows to get /metrics.")
	flag.StringVar(&o.healthAddr, "health-probe-bind-address", ":8081", "Address of the health probes /healthz and /readyz.")
	flag.StringVar(&o.pprofAddr, "pprof-bind-address", "", "Address of Go's profiles, without authentication: it must be a loopback address, such as 127.0.0.1:6060. Empty disables them.")
	flag.StringVar(&o.sessionAddr, "session-bind-address", ":9443", "Address on which the leader serves the sessions of a run's pods.")
	flag.IntVar(&o.sessionConnections, "session-connections-per-address", limit.MaxConnections, "Largest number of connections to the session server from one IP address.")
	flag.StringVar(&o.reconciler.SessionAddress, "session-address", "", "Host and port at which a run's pods reach the leader, such as assay-session.assay-system.svc:9443. Required.")
	flag.StringVar(&o.certificate, "session-certificate-source", certificateSelf, "Source of the session server's certificate: Self (issued and renewed by the manager) or Secret (issued by somebody else, such as cert-manager).")
	flag.StringVar(&o.secretName, "session-certificate-secret", "", "Name of the Secret with tls.crt, tls.key and ca.crt in the manager's namespace. Required with --session-certificate-source=Secret. Defaults to "+sessioncertificate.SecretName+" with Self.")
	flag.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "Namespace of the manager, for its Lease and its Secret. Defaults to $POD_NAMESPACE.")
	flag.StringVar(&o.podName, "pod-name", os.Getenv("POD_NAME"), "Name of the manager's pod, its identity in leader election. Defaults to $POD_NAME.")
	flag.StringVar(&o.reconciler.AssayImage, "assay-image", "", "Image of the agent. Required.")
	flag.StringVar(&o.reconciler.LoadImage, "load-image", "", "Image of the clients. Required.")
	flag.StringVar(&o.reconciler.K6Image, "k6-image", "", "Image of the clients that run k6. Required.")
	flag.StringVar((*string)(&o.reconciler.ImagePullPolicy), "image-pull-policy", string(corev1.PullIfNotPresent), "Pull policy of these images: Always, IfNotPresent or Never.")
	flag.DurationVar(&o.reconciler.MaxActiveDeadline, "max-active-deadline", 4*time.Hour, "Longest spec.activeDeadlineSeconds of a run, such as 2h. Zero allows any.")
	flag.IntVar(&o.reconciler.MaxActiveRuns, "max-active-runs", 4, "Largest number of active runs of a namespace, in all lanes. The others wait. Zero allows any.")
	flag.Func("lanes", "Lanes that runs may use, separated by commas. Any lane is allowed if it is omitted.", parsed(&o.reconciler.Lanes, readList))
	o.reconciler.Issuers = []string{"Issuer/*"}
	flag.Func("issuers", "cert-manager issuers that runs may use, separated by commas: Issuer/NAME, ClusterIssuer/NAME or KIND.GROUP/NAME, where NAME may be *. No issuer is allowed if it is empty; those of the run's namespace, Issuer/*, if it is omitted.", parsed(&o.reconciler.Issuers, readIssuers))
	o.reconciler.MaxContentBytes = 16 << 30
	flag.Func("max-content", "Largest size of spec.target.content of a run, such as 1Gi. Zero allows any. Defaults to 16Gi.", parsed(&o.reconciler.MaxContentBytes, readSize))
	flag.Func("run-pods", "JSON object of what the pods and objects of all runs have: podLabels, podAnnotations, inheritLabels, imagePullSecrets, agentResources, securityContext.", parsed(&o.reconciler.RunPods, manifest.ReadRunPods))
	flag.BoolVar(&o.reconciler.NetworkPolicies, "network-policies", false, "Create a NetworkPolicy for each run: its pods reach each other, the manager, the cluster's DNS and what --network-policy-egress allows.")
	flag.Func("network-policy-egress", "JSON list of egress rules of a NetworkPolicy, each with to: what the pods of runs reach besides. Link-local addresses and those of cloud metadata are left out.", parsed(&o.reconciler.Egress, manifest.ReadEgress))
	flag.Func("network-policy-dns", "JSON list of peers of a NetworkPolicy: the cluster's DNS, reached on ports 53 and 5353. Required with --network-policies.", parsed(&o.reconciler.DNS, manifest.ReadDNS))
	flag.StringVar(&o.bucketsFile, "buckets", "", "YAML file that says into which buckets full results go: the URL default, and namespaces with a URL by namespace. Results are in ConfigMaps alone if it is omitted.")
	flag.BoolFunc("version", "Print the version and exit.", printVersion)
	o.zap.BindFlags(flag.CommandLine)
	flag.Parse()
	o.reconciler.Version = version
	o.reconciler.Namespace = o.namespace
	o.reconciler.Identity = o.namespace + "/" + o.election.lease
	return o
}

func printVersion(string) error {
	fmt.Println("manager version", version)
	os.Exit(0)
	return nil
}

// parsed returns the function of a flag whose value is parsed.
func parsed[T any](value *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*value, err = parse(text)
		return err
	}
}

func readIssuers(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	issuers := strings.Split(text, ",")
	for _, issuer := range issuers {
		if kind, name, _ := strings.Cut(issuer, "/"); kind == "" || name == "" {
			return nil, fmt.Errorf("%q must be KIND/NAME or KIND.GROUP/NAME", issuer)
		}
	}
	return issuers, nil
}

// readSize returns the bytes of a quantity such as 1Gi.
func readSize(text string) (int64, error) {
	quantity, err := resource.ParseQuantity(text)
	if err == nil && quantity.Sign() < 0 {
		err = errors.New("it must not be negative")
	}
	return quantity.Value(), err
}

// readList returns the elements of a list, separated by commas.
func readList(text string) ([]string, error) {
	values := strings.Split(text, ",")
	if slices.Contains(values, "") {
		return nil, errors.New("it has an empty element")
	}
	return values, nil
}

func (o *options) check() error {
	for _, required := range []struct{ flag, value string }{
		{"session-address", o.reconciler.SessionAddress},
		{"assay-image", o.reconciler.AssayImage},
		{"load-image", o.reconciler.LoadImage},
		{"k6-image", o.reconciler.K6Image},
		{"namespace", o.namespace},
		{"pod-name", o.podName},
	} {
		if required.value == "" {
			return fmt.Errorf("--%s is required; see --help", required.flag)
		}
	}
	switch {
	case o.certificate != certificateSelf && o.certificate != certificateSecret:
		return fmt.Errorf("--session-certificate-source must be %[2]s or %[3]s, not %[1]s", o.certificate, certificateSelf, certificateSecret)
	case o.reconciler.NetworkPolicies && len(o.reconciler.DNS) == 0:
		return errors.New("--network-policy-dns is required with --network-policies: without DNS, clients find no target")
	case !loopback(o.pprofAddr):
		return fmt.Errorf("--pprof-bind-address is %s: it must have a loopback address, such as 127.0.0.1:6060, since profiles have no authentication", o.pprofAddr)
	case o.certificate == certificateSecret && o.secretName == "":
		return fmt.Errorf("--session-certificate-secret is required with --session-certificate-source=%s", certificateSecret)
	}
	return o.election.check()
}

// loopback reports whether only processes of the same pod reach an address, or it is disabled.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return address == "" || address == disabled || err == nil && net.ParseIP(host).IsLoopback()
}

func (o *options) certificateSource(apiClient client.Client) sessioncertificate.Source {
	if o.certificate == certificateSecret {
		return sessioncertificate.NewLoader(types.NamespacedName{Namespace: o.namespace, Name: o.certificateSecret()}, clock.RealClock{})
	}
	return sessioncertificate.NewKeeper(apiClient, types.NamespacedName{Namespace: o.namespace, Name: o.certificateSecret()}, clock.RealClock{})
}

// certificateSecret returns the name of the Secret of the session certificate.
func (o *options) certificateSecret() string {
	return cmp.Or(o.secretName, sessioncertificate.SecretName)
}

func run(ctx context.Context, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	buckets, err := readBuckets(o.bucketsFile)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("load the kubeconfig: %w", err)
	}
	if err := awaitAPIServer(ctx, config, o.healthAddr, contactInterval); err != nil {
		return err
	}
	served, err := newScope(config, o)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var lock *leader.Lock
	if o.election.enabled {
		if lock, err = o.election.lock(config, o.namespace, o.podName, func() { cancel(errRestart) }); err != nil {
			return err
		}
	}
	mgr, err := newManager(config, scheme, o, lock)
	if err != nil {
		return err
	}
	apiClient, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	if err := checkRights(ctx, apiClient); err != nil {
		return err
	}
	own := types.NamespacedName{Namespace: o.namespace, Name: o.podName}
	if err := awaitScope(ctx, served, o.healthAddr, reportStayingOut(ctx, mgr, own)); err != nil {
		return err
	}
	apiReader := inNamespaces(apiClient, o.namespaces)
	certificate := o.certificateSource(apiClient)
	trust := &sessioncertificate.Trust{Client: mgr.GetClient(), APIReader: apiClient, Source: certificate, Scope: served}
	clientset, err := kubernetes.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a client for logs: %w", err)
	}
	changed := make(chan event.TypedGenericEvent[types.UID])
	identifier := &benchmarkrun.Identifier{Client: mgr.GetClient(), APIReader: apiReader, Namespaces: o.namespaces}
	sessions := sessionmanager.New(identifier.Identify, func(run string) {
		select {
		case changed <- event.TypedGenericEvent[types.UID]{Object: types.UID(run)}:
		case <-ctx.Done():
		}
	}, ctrl.Log.WithName("sessions"))
	sessions.ConnectionsPerAddress = o.sessionConnections
	observed := metrics.New(mgr.GetClient(), sessions, clock.RealClock{}, version)
	overdue := func() { cancel(fmt.Errorf("%w: a reconciliation took too long", errRestart)) }
	reconciler := &benchmarkrun.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: apiReader,
		Events:    mgr.GetEventRecorder("assay"),
		Metrics:   observed,
		Clock:     clock.RealClock{},
		Sessions:  sessions,
		CA:        certificate.CA,
		Settings:  o.reconciler,
		Logs:      benchmarkrun.ReadLogs(clientset),
		Overdue:   overdue,
		Memory:    sessions.Memory,
		Scope:     served,
	}
	if buckets != nil {
		reconciler.Buckets = buckets
	}
	benchmarks := &benchmark.Reconciler{
		Client: mgr.GetClient(), APIReader: apiReader, Events: reconciler.Events, Metrics: observed, Clock: clock.RealClock{},
		Overdue: overdue, Memory: sessions.Memory, Scope: served, RunPods: o.reconciler.RunPods,
	}
	serve := manager.RunnableFunc(func(ctx context.Context) error {
		listener, err := net.Listen("tcp", o.sessionAddr)
		if err != nil {
			return fmt.Errorf("listen for sessions: %w", err)
		}
		return sessions.Serve(ctx, listener, certificate.TLSConfig())
	})
	for _, add := range []func() error{
		func() error { return observed.Register(crmetrics.Registry) },
		func() error { return reconciler.SetupWithManager(mgr, changed) },
		func() error { return benchmarks.SetupWithManager(mgr) },
		func() error { return certificate.SetupWithManager(mgr) },
		func() error { return trust.SetupWithManager(mgr) },
		func() error { return mgr.Add(manager.RunnableFunc(collectOften)) },
		func() error { return mgr.Add(serve) },
		func() error { return mgr.Add(lastEnd{apiClient, reconciler.Events, own}) },
		func() error { return mgr.Add(keepScope{served, cancel}) },
		func() error { return addDoors(ctx, mgr, apiClient, o) },
	} {
		if err := add(); err != nil {
			return fmt.Errorf("set up the manager: %w", err)
		}
	}
	err = start(ctx, mgr, stopTimeout)
	if err != nil && lock != nil && lock.Lost(time.Now()) {
		return fmt.Errorf("%w: %w", errRestart, err)
	}
	if errors.Is(context.Cause(ctx), errRestart) {
		return errRestart
	}
	return err
}

func newManager(config *rest.Config, scheme *runtime.Scheme, o *options, lock *leader.Lock) (ctrl.Manager, error) {
	cached, err := benchmarkrun.CacheOptions()
	if err != nil {
		return nil, err
	}
	cached.DefaultNamespaces = cacheNamespaces(o.namespaces)
	settings := ctrl.Options{
		Scheme: scheme,
		// controller-runtime would serve health and metrics without a bound of connections: addDoors adds both.
		HealthProbeBindAddress: disabled,
		Metrics:                metricsserver.Options{BindAddress: disabled},
		PprofBindAddress:       o.pprofAddr,
		Cache:                  cached,

		GracefulShutdownTimeout: new(shutdownTimeout),
	}
	o.election.configure(&settings, lock)
	mgr, err := ctrl.NewManager(config, settings)
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	return mgr, nil
}
