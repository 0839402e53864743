// Package cluster connects the plugin to the API server. It uses the same flags,
// environment variables and kubeconfig files as kubectl.
package cluster

import (
	"context"
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

// Cluster is a client for the API server, together with the selected namespace.
type Cluster struct {
	client.WithWatch
	Namespace string
}

// Connect returns a client that is configured by the flags, the environment and
// the kubeconfig file. It sends no request.
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
		return nil, fmt.Errorf("create API client: %w", err)
	}
	return &Cluster{WithWatch: c, Namespace: namespace}, nil
}

// NewScheme returns a scheme with the kinds that the plugin reads.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("create scheme: %w", err)
	}
	return scheme, nil
}

// mapper returns a REST mapper for the kinds that the plugin reads. It makes API
// discovery unnecessary.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(v1alpha1.GroupVersion.WithKind("BenchmarkRun"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return m
}

// NotFound returns the error for a run that doesn't exist.
func NotFound(namespace, name string) error {
	return exit.Errorf(exit.Unknown, "BenchmarkRun %q not found in namespace %q; list the runs with \"kubectl get benchmarkruns --namespace %s\"",
		name, namespace, namespace)
}

// Run returns a run of the namespace. It distinguishes a run that doesn't exist from an unknown kind,
// for which the API server's response contains no Status object.
func (c *Cluster) Run(ctx context.Context, name string) (*v1alpha1.BenchmarkRun, error) {
	run := &v1alpha1.BenchmarkRun{}
	err := c.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, run)
	switch {
	case err == nil:
		return run, nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, NotFound(c.Namespace, name)
	}
	return nil, Explain(err)
}

// Explain wraps an error of a request to the API server with the likely cause. The
// exit code is exit.Unknown.
func Explain(err error) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsNotFound(err):
		return exit.Errorf(exit.Unknown, "the cluster has no resource BenchmarkRun; is Assay installed? (%w)", err)
	case errors.As(err, &status):
		return exit.Errorf(exit.Unknown, "the API server rejected the request: %w", err)
	}
	return exit.Errorf(exit.Unknown, "cannot reach the API server: %w", err)
}

// Complete returns a shell completion for at most limit names of runs. It omits the names that are
// already on the command line.
func Complete(flags *genericclioptions.ConfigFlags, limit int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
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

// OutputFlag adds the flag for the output format to a command.
func OutputFlag(cmd *cobra.Command, format *string, formats []string, list string) {
	cmd.Flags().StringVarP(format, "output", "o", *format, "output format: "+list)
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag isn't defined
	}
}
