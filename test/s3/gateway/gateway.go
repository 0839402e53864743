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
)

const (
	// AccessKey and SecretKey are the credentials that the server accepts.
	AccessKey = "assay"
	SecretKey = "s3cr3t-of-the-test"
	// Region is the region of its buckets.
	Region = "us-east-1"
	// Bucket is the name of the bucket that Prepare creates.
	Bucket = "results"
	// Health is the path that it answers without credentials.
	Health = "/health"

	// AddressVariable and DirectoryVariable are environment variables with the arguments of Serve.
	AddressVariable   = "ASSAY_TEST_S3_ADDRESS"
	DirectoryVariable = "ASSAY_TEST_S3_DIRECTORY"
)

// Objects returns the directory of the objects of Bucket, whose paths are their keys.
func Objects(directory string) string { return filepath.Join(directory, "buckets", Bucket) }

// Serve runs the server at an address, with the buckets in a directory. It creates Bucket unless that exists. The server
// ends only with its process.
func Serve(address, directory string) error {
	sidecar := filepath.Join(directory, "meta") // not every file system has extended attributes
	for _, path := range []string{sidecar, Objects(directory)} {
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
		RootUserAccess: AccessKey, RootUserSecret: SecretKey, Region: Region, Ports: []string{address}, HealthPath: Health,
		MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 100, Quiet: true,
	})
}
