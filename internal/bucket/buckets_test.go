package bucket_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/bucket"
)

func TestReadConfig(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"default: s3://results":               "",
		"namespaces: {a: gs://a, b: \"\"}":    "",
		"defaults: s3://results":              "must be YAML with the fields default, namespaces,",
		"default: [s3://results]":             "must be YAML with the fields default, namespaces,",
		"default: s3://key:secret@results":    "default must not have a user or a password",
		"namespaces: {a: \"http://results\"}": "namespaces.a must begin with one of",
		"namespaces: {A: s3://results}":       `namespaces has "A", which is not a namespace`,
	} {
		_, err := bucket.ReadConfig([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error has the password: %v", text, err)
		}
	}
}

func TestBucketsOfNamespaces(t *testing.T) {
	shared, own := t.TempDir(), t.TempDir()
	config, err := bucket.ReadConfig([]byte("{default: \"file://" + shared + "\", namespaces: {team: \"file://" + own + "?create_dir=true\", none: \"\"}}"))
	if err != nil {
		t.Fatal(err)
	}
	b := bucket.New(config)
	for namespace, want := range map[string]string{"team": "file://" + own, "none": "", "other": "file://" + shared} {
		if got := b.Location(namespace); got != want {
			t.Errorf("location of %s: %q, want %q", namespace, got, want)
		}
	}
	for namespace, dir := range map[string]string{"team": own, "other": shared} {
		for range 2 {
			if err := b.Put(t.Context(), namespace, "key", []byte(namespace)); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := os.ReadFile(filepath.Join(dir, "key")); err != nil || string(data) != namespace {
			t.Errorf("%s: %q, %v", namespace, data, err)
		}
	}
	if err := b.Put(t.Context(), "other", "key", []byte("another")); !errors.Is(err, bucket.ErrOther) {
		t.Errorf("put: %v", err)
	}
}

// TestBucketsOpenLater has a bucket that can't be opened at first.
func TestBucketsOpenLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	b := bucket.New(&bucket.Config{Default: "file://" + dir})
	if err := b.Put(t.Context(), "any", "key", nil); err == nil || !strings.Contains(err.Error(), "open bucket file://"+dir) {
		t.Errorf("put: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "any", "key", nil); err != nil {
		t.Error(err)
	}
}
