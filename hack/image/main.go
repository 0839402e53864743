// Command assay-image writes images from plain files, without a Docker engine: an archive in the format of
// `docker save` for one platform, or an OCI layout for several, which it can also push to a registry. It also writes archives
// of programs. Equal files
// give equal digests.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/cobra"
)

// image describes an image.
type image struct {
	Tag        string
	Layers     []string
	Entrypoint []string
	Cmd        []string
	Env        []string
	Ports      []string
	Labels     []string
	User       string
	WorkingDir string
	StopSignal string `json:",omitempty"`
}

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "assay-image:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var i image
	var output, layoutDirectory string
	var platforms []string
	cmd := &cobra.Command{
		Use:           "assay-image --tag NAME {--output ARCHIVE | --layout DIRECTORY} --layer SOURCE=/TARGET[:MODE][,...]...",
		Short:         "Write an image from files",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			if layoutDirectory != "" {
				return i.writeLayout(layoutDirectory, platforms)
			}
			return i.build(output)
		},
	}
	cmd.AddCommand(pushCommand(), archiveCommand())
	flags := cmd.Flags()
	flags.StringVar(&i.Tag, "tag", "", "tag of the image")
	flags.StringVar(&output, "output", "", "archive to write, for linux/amd64")
	flags.StringVar(&layoutDirectory, "layout", "", "OCI layout to write, whose index has an image for each platform")
	flags.StringArrayVar(&platforms, "platform", nil, "OS/ARCHITECTURE of an image of the layout; may be repeated")
	flags.StringArrayVar(&i.Layers, "layer", nil, "files and directories of one layer; MODE is octal, and 0755 for a file if omitted; {arch} in a SOURCE of a layout is the architecture; may be repeated")
	flags.StringArrayVar(&i.Entrypoint, "entrypoint", nil, "argument of the entrypoint; may be repeated")
	flags.StringArrayVar(&i.Cmd, "cmd", nil, "argument of the command; may be repeated")
	flags.StringArrayVar(&i.Env, "env", nil, "NAME=VALUE; may be repeated")
	flags.StringArrayVar(&i.Ports, "port", nil, "exposed PORT/PROTOCOL; may be repeated")
	flags.StringArrayVar(&i.Labels, "label", nil, "NAME=VALUE; may be repeated")
	flags.StringVar(&i.User, "user", "", "UID:GID of the process")
	flags.StringVar(&i.WorkingDir, "workdir", "", "working directory")
	flags.StringVar(&i.StopSignal, "stop-signal", "", "signal that stops the container, such as SIGQUIT")
	_ = cmd.MarkFlagRequired("tag")
	_ = cmd.MarkFlagRequired("layer")
	cmd.MarkFlagsOneRequired("output", "layout")
	cmd.MarkFlagsMutuallyExclusive("output", "layout")
	cmd.MarkFlagsRequiredTogether("layout", "platform")
	return cmd
}

// build writes the archive unless the existing one was built from the same files and flags.
func (i image) build(output string) error {
	var layers [][]piece
	digest := sha256.New()
	fmt.Fprintln(digest, "format 2") // increment when the format of archives changes
	if err := json.NewEncoder(digest).Encode(i); err != nil {
		return err
	}
	for _, text := range i.Layers {
		pieces, err := parseLayer(text)
		if err != nil {
			return err
		}
		if err := describe(digest, pieces); err != nil {
			return err
		}
		layers = append(layers, pieces)
	}
	stamp := fmt.Sprintf("%x", digest.Sum(nil))
	stampFile := output + ".stamp"
	if have, err := os.ReadFile(stampFile); err == nil && string(have) == stamp {
		if _, err := os.Stat(output); err == nil {
			fmt.Printf("  image  %s: unchanged\n", i.Tag)
			return nil
		}
	}

	made, err := i.assemble(layers)
	if err != nil {
		return err
	}
	tag, err := name.NewTag(i.Tag)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	if err := tarball.WriteToFile(output+".new", tag, made); err != nil {
		return fmt.Errorf("write %s: %w", output, err)
	}
	// If this is interrupted, the old stamp must not match the new archive.
	if err := os.Remove(stampFile); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(output+".new", output); err != nil {
		return err
	}
	info, err := os.Stat(output)
	if err != nil {
		return err
	}
	fmt.Printf("  image  %s: built, %d MB\n", i.Tag, info.Size()>>20)
	return os.WriteFile(stampFile, []byte(stamp), 0o644)
}

// config returns the image's configuration for a platform, without layers.
func (i image) config(platform v1.Platform) *v1.ConfigFile {
	return &v1.ConfigFile{
		OS:           platform.OS,
		Architecture: platform.Architecture,
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint:   i.Entrypoint,
			Cmd:          i.Cmd,
			Env:          i.Env,
			User:         i.User,
			WorkingDir:   i.WorkingDir,
			StopSignal:   i.StopSignal,
			ExposedPorts: set(i.Ports),
			Labels:       labels(i.Labels),
		},
	}
}

func (i image) assemble(layers [][]piece) (v1.Image, error) {
	made, err := mutate.ConfigFile(empty.Image, i.config(v1.Platform{OS: "linux", Architecture: "amd64"}))
	if err != nil {
		return nil, err
	}
	for _, pieces := range layers {
		layer, err := newLayer(pieces)
		if err != nil {
			return nil, err
		}
		if made, err = mutate.AppendLayers(made, layer); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func labels(texts []string) map[string]string {
	found := map[string]string{}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		found[name] = value
	}
	return found
}

func set(texts []string) map[string]struct{} {
	found := map[string]struct{}{}
	for _, text := range texts {
		found[text] = struct{}{}
	}
	return found
}
