package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// writeLayout replaces a directory by an OCI layout. Its index.json is the index that a registry gets: it has an image
// for each platform, and the labels as annotations.
func (i image) writeLayout(directory string, platforms []string) error {
	if _, err := name.NewTag(i.Tag); err != nil {
		return err
	}
	index, err := i.index(platforms)
	if err != nil {
		return err
	}
	next := directory + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(directory), 0o755); err != nil {
		return err
	}
	if _, err := layout.Write(next, index); err != nil {
		return fmt.Errorf("write %s: %w", directory, err)
	}
	if err := os.RemoveAll(directory); err != nil {
		return err
	}
	if err := os.Rename(next, directory); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("  image  %s: built for %s, %s\n", i.Tag, strings.Join(platforms, " and "), digest)
	return nil
}

func (i image) index(platforms []string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, text := range platforms {
		platform, err := v1.ParsePlatform(text)
		if err != nil || platform.OS == "" || platform.Architecture == "" {
			return nil, fmt.Errorf("platform %q: must be OS/ARCHITECTURE", text)
		}
		made, err := i.forPlatform(*platform)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: made, Descriptor: v1.Descriptor{Platform: platform}})
	}
	annotated, ok := mutate.Annotations(index, labels(i.Labels)).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("annotate the index of %s: not an index", i.Tag)
	}
	return annotated, nil
}

// forPlatform returns the image for a platform, with compressed layers: it is for registries.
func (i image) forPlatform(platform v1.Platform) (v1.Image, error) {
	made := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err := mutate.ConfigFile(made, i.config(platform))
	if err != nil {
		return nil, err
	}
	for _, text := range i.Layers {
		pieces, err := parseLayer(strings.ReplaceAll(text, "{arch}", platform.Architecture))
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return openLayer(pieces), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
		if err != nil {
			return nil, fmt.Errorf("layer %q: %w", text, err)
		}
		if made, err = mutate.AppendLayers(made, layer); err != nil {
			return nil, err
		}
	}
	return made, nil
}
