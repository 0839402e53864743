package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/output"
	"github.com/assay-dev/assay/internal/result"
)

// read returns the result of a run: from its ConfigMap, or from a copy of the object in its bucket unless file is empty.
func read(ctx context.Context, c *cluster.Cluster, run *v1alpha1.BenchmarkRun, file string) (*result.Result, error) {
	if file == "" {
		return c.Result(ctx, run)
	}
	object := run.Status.Artifact.Object
	if object == nil {
		return nil, exit.Errorf(exit.Unknown, "BenchmarkRun %q has no full result in a bucket, which --file could be a copy of", run.Name)
	}
	r, err := readFull(file, object)
	if err != nil {
		return nil, exit.Errorf(exit.Unknown, "read full result of BenchmarkRun %q: %w", run.Name, err)
	}
	return r, nil
}

// readFull decodes a file only if it has the digest of the object.
func readFull(name string, object *v1alpha1.ArtifactObject) (*result.Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, artifact.FullLimit+1))
	if err != nil {
		return nil, err
	}
	if sum := artifact.Identify(data).SHA256; sum != object.SHA256 {
		return nil, fmt.Errorf("%s is not a copy of object %s in bucket %s: its SHA-256 is %s, not %s", name, object.Key, object.Bucket, sum, object.SHA256)
	}
	return artifact.DecodeFull(data)
}

// WriteRun writes the report of a run. One that has finished without a result has a page only, which says why; the exit code is that of the other formats.
func WriteRun(ctx context.Context, c *cluster.Cluster, name, file, format, directory string, plot bool, out io.Writer) error {
	if err := doc.CheckFormat(format, output.Formats()); err != nil {
		return exit.Errorf(exit.Unknown, "%w", err)
	}
	run, err := c.Run(ctx, name)
	if err != nil {
		return err
	}
	spec, err := yaml.Marshal(&run.Spec)
	if err != nil {
		return fmt.Errorf("write spec as YAML: %w", err)
	}
	if run.Status.Artifact == nil {
		if format == output.HTML && meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
			if err := html.Write(out, failed(run, string(spec))); err != nil {
				return err
			}
		}
		return exit.Errorf(exit.Failed, "BenchmarkRun %q has %s", run.Name, cluster.NoResult(run))
	}
	r, err := read(ctx, c, run, file)
	if err != nil {
		return err
	}
	if format == output.Script {
		return coded(output.WriteFiles(directory, r, out))
	}
	if err := output.Write(out, format, r, string(spec)); err != nil || !plot {
		return coded(err)
	}
	text := cmp.Or(chart.PercentilesText(r), "No request succeeded: there is no percentile curve.\n")
	_, err = fmt.Fprint(out, "\n"+text)
	return err
}

// coded returns an error with the exit code of a report that can't be written.
func coded(err error) error {
	var absent *output.AbsentError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &absent):
		return exit.Errorf(exit.Failed, "%w", err)
	}
	return exit.Errorf(exit.Unknown, "%w", err)
}
