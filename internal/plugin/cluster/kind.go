package cluster

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// Kind is a kind of object that a command line names.
type Kind struct {
	// Name is the kind's name in the API, Plural that of its resource.
	Name, Plural string
	// noun names the thing that the kind carries out.
	noun string
	// prefixes are the names that may stand before an object's name, as in kubectl.
	prefixes []string
}

// The kinds.
var (
	BenchmarkRun = &Kind{"BenchmarkRun", "benchmarkruns", "run", []string{"benchmarkrun", "benchmarkruns", "benchmarkruns.assay.dev", "bench"}}
	Benchmark    = &Kind{"Benchmark", "benchmarks", "round", []string{"benchmark", "benchmarks", "benchmarks.assay.dev", "bm"}}
)

// Parse returns the kind and the name of an argument: NAME of the default kind, or KIND/NAME.
func Parse(argument string, kind *Kind) (*Kind, string, error) {
	prefix, name, both := strings.Cut(argument, "/")
	if !both {
		prefix, name = "", argument
	}
	for _, k := range []*Kind{BenchmarkRun, Benchmark} {
		if slices.Contains(k.prefixes, strings.ToLower(prefix)) {
			kind, prefix = k, ""
		}
	}
	if prefix != "" {
		return nil, "", exit.Errorf(exit.Unknown, "unknown kind %q: use benchmark/NAME or benchmarkrun/NAME", prefix)
	}
	if problems := validation.NameIsDNSSubdomain(name, false); len(problems) > 0 {
		return nil, "", exit.Errorf(exit.Unknown, "%q is not the name of a %s: %s", argument, kind.Name, strings.Join(problems, "; "))
	}
	return kind, name, nil
}

// ParseOf is like Parse for an argument that must be of one kind.
func ParseOf(argument string, kind *Kind) (string, error) {
	of, name, err := Parse(argument, kind)
	if err == nil && of != kind {
		err = exit.Errorf(exit.Unknown, "%q is not a %s", argument, kind.Name)
	}
	return name, err
}

// OneName is the check of the arguments of a command for one object.
func OneName(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return exit.Errorf(exit.Unknown, "a name is missing; use %q", cmd.UseLine())
	}
	return exit.Errorf(exit.Unknown, "one name is expected, not %d: %s; use %q", len(args), strings.Join(args, " "), cmd.UseLine())
}

// NotFound returns the error for an object that doesn't exist. It says so if one of the other kind has the name.
func (k *Kind) NotFound(ctx context.Context, c client.Reader, namespace, name string) error {
	other, object := Benchmark, client.Object(&v1alpha1.Benchmark{})
	if k == Benchmark {
		other, object = BenchmarkRun, &v1alpha1.BenchmarkRun{}
	}
	if c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object) == nil {
		return exit.Errorf(exit.Unknown, "%s %q not found in namespace %q; %q is a %s: use %s/%s",
			k.Name, name, namespace, name, other.Name, other.prefixes[0], name)
	}
	return exit.Errorf(exit.Unknown, "%s %q not found in namespace %q; list them with \"kubectl get %s --namespace %s\"",
		k.Name, name, namespace, k.Plural, namespace)
}
