// Command gateway is the S3 server of the scenarios on a cluster. Its arguments are environment variables; see package
// objectstore.
package main

import (
	"fmt"
	"os"

	"github.com/assay-dev/assay/test/objectstore"
	"github.com/assay-dev/assay/test/s3/gateway"
)

func main() {
	if err := gateway.Serve(os.Getenv(objectstore.AddressVariable), os.Getenv(objectstore.DirectoryVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
