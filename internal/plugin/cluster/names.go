package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"
)

// CompleteFlags adds shell completions to the flags that select a cluster and a namespace. Namespaces come from the
// API server, the other names from the kubeconfig file.
func CompleteFlags(root *cobra.Command, flags Flags) {
	namespaces := complete(flags, maxNames, func(ctx context.Context, c *Cluster) ([]string, error) {
		return c.names(ctx, &corev1.NamespaceList{}, "")
	})
	FlagCompletion(root, "namespace", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return namespaces(cmd, nil, toComplete)
	})
	FlagCompletion(root, "context", fromKubeconfig(flags, func(c *api.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) }))
	FlagCompletion(root, "cluster", fromKubeconfig(flags, func(c *api.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) }))
	FlagCompletion(root, "user", fromKubeconfig(flags, func(c *api.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) }))
}

// maxNames permits a completion whatever is on the command line already.
const maxNames = 1 << 30

// FlagCompletion sets the shell completion of a flag, which must be defined.
func FlagCompletion(cmd *cobra.Command, flag string, completion cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, completion); err != nil {
		panic(err) // the flag isn't defined
	}
}

func fromKubeconfig(flags Flags, names func(*api.Config) []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		config, err := flags.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names(&config), cobra.ShellCompDirectiveNoFileComp
	}
}
