package kind

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/assay-dev/assay/hack/cluster/archive"
)

// Load loads the images of an archive into the cluster's nodes unless they are loaded already.
func (c Cluster) Load(ctx context.Context, file string, report func(string, ...any)) error {
	images, err := archive.Read(file)
	if err != nil {
		return err
	}
	containers, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	var missing []string
	for _, container := range containers {
		list, err := c.output(ctx, nil, c.engine(), "exec", container, "ctr", "--namespace", "k8s.io", "images", "list")
		if err != nil {
			return err
		}
		if !loaded(list, images) {
			missing = append(missing, container)
		}
	}
	if len(missing) == 0 {
		report("image  %s: already loaded", archive.Tags(images))
		return nil
	}
	if err := c.kind(ctx, nil, "load", "image-archive", file, "--name", name, "--nodes", strings.Join(missing, ",")); err != nil {
		return err
	}
	report("image  %s: loaded from %s", archive.Tags(images), filepath.Base(file))
	return nil
}

// loaded reports whether containerd's list of images has all of these. It lists an image by each of its tags and
// by its ID, always with the same digest of a manifest.
func loaded(list string, images []archive.Image) bool {
	digests := map[string]string{}
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 2 { // REF TYPE DIGEST …
			digests[fields[0]] = fields[2]
		}
	}
	for _, image := range images {
		for _, tag := range image.RepoTags {
			if digests[tag] == "" || digests[tag] != digests[image.ID()] {
				return false
			}
		}
	}
	return true
}
