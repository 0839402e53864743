// Package cluster is how the plugin reaches the cluster: through the same flags
// and files as kubectl.
package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// Cluster is a client for the API server and the namespace that was asked for.
type Cluster struct {
	client.WithWatch
	Namespace string
}

// Connect returns a client as the flags, the environment and the kubeconfig
// file say. Nothing is sent yet.
func Connect(flags *genericclioptions.ConfigFlags) (*Cluster, error) {
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return nil, fmt.Errorf("make API client: %w", err)
	}
	return &Cluster{WithWatch: c, Namespace: namespace}, nil
}

// NewScheme is a scheme of the kinds that the plugin reads.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("make scheme: %w", err)
	}
	return scheme, nil
}

// mapper knows the kinds that the plugin reads, so that the API server needn't
// be asked what it serves.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(v1alpha1.GroupVersion.WithKind("BenchmarkRun"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return m
}

// NotFound is the error for a run that doesn't exist.
func NotFound(namespace, name string) error {
	return exit.Errorf(exit.Unknown, "there is no BenchmarkRun %q in namespace %q: see \"kubectl get benchmarkruns --namespace %s\"",
		name, namespace, namespace)
}

// IsNoSuchObject is whether an error says that an object doesn't exist, rather
// than its kind: for a kind that it doesn't serve the API server sends no
// status of its own.
func IsNoSuchObject(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// Explain adds to an error of the API server what the user can do about it.
func Explain(err error) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsNotFound(err):
		return exit.Errorf(exit.Unknown, "the cluster doesn't know BenchmarkRuns: is Assay installed? (%w)", err)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), errors.As(err, &status):
		return exit.Errorf(exit.Unknown, "the API server refused: %w", err)
	}
	return exit.Errorf(exit.Unknown, "the API server can't be reached: %w", err)
}

// CompleteNames completes the name of one run of the namespace.
func CompleteNames(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	further := CompleteFurtherNames(flags)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return further(cmd, args, begun)
	}
}

// CompleteFurtherNames completes the names of any number of the namespace's
// runs: those that weren't given yet.
func CompleteFurtherNames(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := Connect(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var runs v1alpha1.BenchmarkRunList
		if err := c.List(cmd.Context(), &runs, client.InNamespace(c.Namespace)); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := make([]string, 0, len(runs.Items))
		for i := range runs.Items {
			if !slices.Contains(args, runs.Items[i].Name) {
				names = append(names, runs.Items[i].Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
