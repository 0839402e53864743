// Package cluster connects the plugin to the API server. It uses the same flags,
// environment variables and kubeconfig files as kubectl.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// Cluster is a client for the API server, together with the selected namespace.
type Cluster struct {
	client.WithWatch
	Namespace string
}

// Flags are kubectl's flags, which say how to reach the API server. The manager serves pages by these packages: it has no flags, nor
// what genericclioptions depends on.
type Flags interface {
	ToRawKubeConfigLoader() clientcmd.ClientConfig
	ToRESTConfig() (*rest.Config, error)
}

// Connect returns a client that is configured by the flags, the environment and
// the kubeconfig file. It sends no request.
func Connect(flags Flags) (*Cluster, error) {
	config, namespace, err := Config(flags)
	if err != nil {
		return nil, err
	}
	return New(config, namespace)
}

// Config returns what the flags, the environment and the kubeconfig file say of the API server, and the selected namespace.
func Config(flags Flags) (config *rest.Config, namespace string, err error) {
	if namespace, _, err = flags.ToRawKubeConfigLoader().Namespace(); err == nil {
		config, err = flags.ToRESTConfig()
	}
	if err != nil {
		return nil, "", fmt.Errorf("read kubeconfig: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // client-go's default lets the eleventh object wait, and each further one for 0.2 s
	return config, namespace, nil
}

// New returns a client that is configured by config, with a namespace. It sends no request.
func New(config *rest.Config, namespace string) (*Cluster, error) {
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
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("create scheme: %w", err)
	}
	return scheme, nil
}

// mapper returns a REST mapper for the kinds that the plugin reads. It makes API
// discovery unnecessary.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(v1alpha1.GroupVersion.WithKind(BenchmarkRun.Name), meta.RESTScopeNamespace)
	m.Add(v1alpha1.GroupVersion.WithKind(Benchmark.Name), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	m.Add(authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), meta.RESTScopeRoot)
	return m
}

// Run returns a run of the namespace.
func (c *Cluster) Run(ctx context.Context, name string) (*v1alpha1.BenchmarkRun, error) {
	run := &v1alpha1.BenchmarkRun{}
	return run, c.get(ctx, BenchmarkRun, name, run)
}

// Benchmark returns a Benchmark of the namespace.
func (c *Cluster) Benchmark(ctx context.Context, name string) (*v1alpha1.Benchmark, error) {
	b := &v1alpha1.Benchmark{}
	return b, c.get(ctx, Benchmark, name, b)
}

// get distinguishes an object that doesn't exist from an unknown kind, for which the API server's
// response contains no Status object.
func (c *Cluster) get(ctx context.Context, kind *Kind, name string, object client.Object) error {
	err := c.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, object)
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return kind.NotFound(ctx, c, c.Namespace, name)
	}
	return Explain(err)
}

// Explain wraps an error of a request to the API server with the likely cause. The
// exit code is exit.Unknown.
func Explain(err error) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsNotFound(err):
		return exit.Errorf(exit.Unknown, "the cluster doesn't know this kind; is Assay installed? Is it as new as this plugin? (%w)", err)
	case errors.As(err, &status):
		return exit.Errorf(exit.Unknown, "the API server rejected the request: %w", err)
	}
	return exit.Errorf(exit.Unknown, "cannot reach the API server: %w", err)
}

// Complete returns a shell completion for at most limit names of runs, and of Benchmarks as
// benchmark/NAME. It omits the names that are already on the command line.
func Complete(flags Flags, limit int) cobra.CompletionFunc {
	return complete(flags, limit, func(ctx context.Context, c *Cluster) ([]string, error) {
		runs, err := c.names(ctx, &v1alpha1.BenchmarkRunList{}, "")
		if err != nil {
			return nil, err
		}
		benchmarks, err := c.names(ctx, &v1alpha1.BenchmarkList{}, "benchmark/")
		if err != nil {
			return runs, nil //nolint:nilerr // an older Assay has no Benchmarks
		}
		return append(runs, benchmarks...), nil
	})
}

// CompleteBenchmarks returns a shell completion for the name of a Benchmark.
func CompleteBenchmarks(flags Flags) cobra.CompletionFunc {
	return complete(flags, 1, func(ctx context.Context, c *Cluster) ([]string, error) {
		return c.names(ctx, &v1alpha1.BenchmarkList{}, "")
	})
}

func complete(flags Flags, limit int, list func(context.Context, *Cluster) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := Connect(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := list(cmd.Context(), c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// names returns the names of the objects of a kind, each with a prefix: those in the namespace, unless the kind has none.
func (c *Cluster) names(ctx context.Context, list client.ObjectList, prefix string) ([]string, error) {
	if err := c.List(ctx, list, client.InNamespace(c.Namespace)); err != nil {
		return nil, err
	}
	var names []string
	err := meta.EachListItem(list, func(item runtime.Object) error {
		names = append(names, prefix+item.(client.Object).GetName())
		return nil
	})
	return names, err
}

// OutputFlag adds the flag for the output format to a command.
func OutputFlag(cmd *cobra.Command, format *string, formats []string, list string) {
	cmd.Flags().StringVarP(format, "output", "o", *format, "output format: "+list)
	FlagCompletion(cmd, "output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}
