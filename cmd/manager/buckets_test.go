package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadBuckets(t *testing.T) {
	if buckets, err := readBuckets(""); buckets != nil || err != nil {
		t.Errorf("without a file: %v, %v", buckets, err)
	}
	file := filepath.Join(t.TempDir(), "buckets.yaml")
	if _, err := readBuckets(file); err == nil || !strings.HasPrefix(err.Error(), "--buckets: ") {
		t.Errorf("a file that doesn't exist: %v", err)
	}
	for text, want := range map[string]string{
		"default: s3://results?region=eu-central-1": "",
		"default: results":                          "--buckets: file " + file + ": default must begin with one of",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		buckets, err := readBuckets(file)
		if want == "" && (err != nil || buckets.Location("any") == "") || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
