package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	certmanager "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
)

// injector writes CA bundles into webhook configurations, API services and CustomResourceDefinitions
// that request them by annotation.
type injector struct {
	logging     *logsapi.LoggingConfiguration
	metricsAddr string
}

func newCAInjector() (component, error) {
	return &injector{logging: logsapi.NewLoggingConfiguration()}, nil
}

func (i *injector) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&i.metricsAddr, "metrics-listen-address", "0.0.0.0:9402", "Listen address of the metrics; 0 disables them.")
	logf.AddFlags(i.logging, flags)
}

func (i *injector) run(ctx context.Context) error {
	if err := logf.ValidateAndApply(i.logging); err != nil {
		return fmt.Errorf("set up logging: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kubernetes.AddToScheme, certmanager.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("register kinds: %w", err)
		}
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	manager, err := ctrl.NewManager(util.RestConfigWithUserAgent(cluster, "cainjector"), ctrl.Options{
		Scheme: scheme,
		// Only the metadata of Secrets is cached. Their data is read from the API server.
		Cache:   cache.Options{ReaderFailOnMissingInformer: true},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics: server.Options{BindAddress: i.metricsAddr},
	})
	if err != nil {
		return fmt.Errorf("set up the cainjector: %w", err)
	}
	if err := cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName:                     true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	}); err != nil {
		return fmt.Errorf("register the injectors: %w", err)
	}
	return manager.Start(ctx)
}
