// Package archive reads image archives in the format of `docker save`.
package archive

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Image describes one image of an archive in the format of `docker save`.
type Image struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
}

// ID returns the image ID as container runtimes define it: the digest of the image's config.
func (i Image) ID() string {
	name := strings.TrimSuffix(filepath.Base(i.Config), ".json")
	if strings.HasPrefix(name, "sha256:") {
		return name
	}
	return "sha256:" + name
}

// Read returns the images of an archive. It reads the manifest and skips the layers.
func Read(file string) ([]Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for entries := tar.NewReader(f); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: not an image archive: manifest.json not found", file)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if entry.Name != "manifest.json" {
			continue
		}
		var images []Image
		if err := json.NewDecoder(entries).Decode(&images); err != nil {
			return nil, fmt.Errorf("%s: manifest.json: %w", file, err)
		}
		return images, nil
	}
}

// Tags returns all tags of the images.
func Tags(images []Image) string {
	var tags []string
	for _, image := range images {
		tags = append(tags, image.RepoTags...)
	}
	return strings.Join(tags, ", ")
}
