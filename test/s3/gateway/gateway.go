// Package gateway runs a real server of S3, the Versity S3 Gateway, which stores objects as files.
package gateway

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/assay-dev/assay/test/objectstore"
)

// Serve runs the server at an address, with the buckets in a directory. It creates objectstore.Bucket unless that exists. The server
// ends only with its process.
func Serve(address, directory string) error {
	sidecar := filepath.Join(directory, "meta") // not every file system has extended attributes
	for _, path := range []string{sidecar, objectstore.Objects(directory)} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fmt.Errorf("create a directory: %w", err)
		}
	}
	storer, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	files, err := posix.New(filepath.Join(directory, "buckets"), storer, posix.PosixOpts{SideCarDir: sidecar, Concurrency: 100})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(context.Background(), files, &embedgw.Config{
		RootUserAccess: objectstore.AccessKey, RootUserSecret: objectstore.SecretKey, Region: objectstore.Region, Ports: []string{address}, HealthPath: objectstore.Health,
		MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 100, Quiet: true,
	})
}
