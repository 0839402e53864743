package main

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/spf13/cobra"
)

func pushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "push LAYOUT TAG...",
		Short: "Push the index of an OCI layout, with the credentials of docker login, and print its name by digest",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			pushed, err := push(cmd, args[0], args[1:])
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), pushed)
			}
			return err
		},
	}
}

// push pushes an index under each of the tags, and returns its name in the repository of the first by digest.
func push(cmd *cobra.Command, directory string, tags []string) (string, error) {
	index, err := layout.ImageIndexFromPath(directory)
	if err != nil {
		return "", err
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	pushed := ""
	for _, text := range tags {
		tag, err := name.NewTag(text)
		if err != nil {
			return "", err
		}
		if err := remote.WriteIndex(tag, index, remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithContext(cmd.Context())); err != nil {
			return "", fmt.Errorf("push %s: %w", tag, err)
		}
		if pushed == "" {
			pushed = tag.Context().Digest(digest.String()).String()
		}
	}
	return pushed, nil
}
