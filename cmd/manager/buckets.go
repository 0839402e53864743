package main

import (
	"fmt"
	"os"

	"github.com/assay-dev/assay/internal/bucket"
)

// readBuckets returns the buckets that the file of --buckets declares, or nil without a file.
func readBuckets(file string) (*bucket.Buckets, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--buckets: %w", err)
	}
	config, err := bucket.ReadConfig(data)
	if err != nil {
		return nil, fmt.Errorf("--buckets: file %s: %w", file, err)
	}
	return bucket.New(config), nil
}
