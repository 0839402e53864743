package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/bucket"
)

// directory returns a bucket that is a directory, and the directory.
func directory(t *testing.T, parameters string) (*bucket.Bucket, string) {
	t.Helper()
	dir := t.TempDir()
	b, err := bucket.Open(t.Context(), "file://"+dir+parameters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, dir
}

func TestPutAndGet(t *testing.T) {
	b, dir := directory(t, "?prefix=results/")
	data := []byte("a result")
	digest := bucket.DigestOf(data)
	key := bucket.Prefix("default", "static", "1234") + digest.SHA256
	for range 2 { // the second time it is there already
		if err := b.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Get(t.Context(), key, digest)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %q, %v", got, err)
	}
	stored, err := os.ReadFile(filepath.Join(dir, "results", "default", "static-1234", digest.SHA256))
	if err != nil || !bytes.Equal(stored, data) {
		t.Errorf("the file has %q, %v", stored, err)
	}
}

func TestPutNeverReplaces(t *testing.T) {
	b, dir := directory(t, "")
	for name, other := range map[string]string{"of the same length": "b", "longer": "bb", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			key := bucket.Prefix("default", name, "1") + "a"
			path := filepath.Join(dir, filepath.FromSlash(key))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(other), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := b.Put(t.Context(), key, []byte("a")); !errors.Is(err, bucket.ErrOther) {
				t.Errorf("put: %v", err)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != other {
				t.Errorf("it has now %q, %v", left, err)
			}
		})
	}
}

func TestGetChecks(t *testing.T) {
	b, _ := directory(t, "")
	data := []byte("a result")
	digest := bucket.DigestOf(data)
	if err := b.Put(t.Context(), "key", data); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		key    string
		digest bucket.Digest
		want   string
		is     error
	}{
		"another size":  {"key", bucket.Digest{Size: 7, SHA256: digest.SHA256}, "it has 8 bytes, not 7", bucket.ErrOther},
		"another sum":   {"key", bucket.DigestOf([]byte("A result")), "its SHA-256 is " + digest.SHA256, bucket.ErrOther},
		"no object":     {"other", digest, "get object other from bucket file://", bucket.ErrNotFound},
		"a size beyond": {"key", bucket.Digest{Size: bucket.MaxSize + 1, SHA256: digest.SHA256}, "must be at most", nil},
		"negative size": {"key", bucket.Digest{Size: -1, SHA256: digest.SHA256}, "must be at most", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.Get(t.Context(), tc.key, tc.digest)
			if err == nil || !strings.Contains(err.Error(), tc.want) || got != nil {
				t.Errorf("%q, %v; want an error with %q", got, err, tc.want)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%v is not %v", err, tc.is)
			}
		})
	}
}

func TestPutStopsWithItsContext(t *testing.T) {
	b, dir := directory(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Put(ctx, "key", []byte("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

func TestPutIsBounded(t *testing.T) {
	b, _ := directory(t, "")
	if err := b.Put(t.Context(), "key", make([]byte, bucket.MaxSize+1)); err == nil || !strings.Contains(err.Error(), "must be at most") {
		t.Errorf("put: %v", err)
	}
}

func TestDeleteAll(t *testing.T) {
	b, _ := directory(t, "")
	mine := bucket.Prefix("default", "static", "1")
	for _, key := range []string{mine + "a", mine + "b", bucket.Prefix("default", "static", "12") + "c", bucket.Prefix("default", "static", "2") + "d"} {
		if err := b.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 0} {
		if n, err := b.DeleteAll(t.Context(), mine); n != want || err != nil {
			t.Errorf("deleted %d, %v; want %d", n, err, want)
		}
	}
	if n, err := b.DeleteAll(t.Context(), ""); n != 2 || err != nil {
		t.Errorf("others' objects: %d, %v", n, err)
	}
}

func TestCheck(t *testing.T) {
	for address, want := range map[string]string{
		"s3://results": "",
		"s3://results?region=eu-central-1&endpoint=https://minio.storage.svc:9000&use_path_style=true&prefix=assay/": "",
		"s3://results?role=arn:aws:iam::1:role/a&ssetype=aws:kms&kmskeyid=k&profile=team":                            "",
		"gs://results?prefix=a/b/":                 "",
		"azblob://results?storage_account=assay":   "",
		"file:///var/lib/assay":                    "",
		"":                                         "must begin with one of azblob://, file://, gs://, s3://",
		"https://results.s3.amazonaws.com":         "must begin with one of",
		"mem://":                                   "must begin with one of",
		"s3://":                                    "must have the name of the bucket",
		"s3://results/assay":                       "must not have a path",
		"s3://key:secret@results":                  "must not have a user or a password",
		"s3://results?awssdk=v1":                   `must not have parameter "awssdk"`,
		"s3://results?anonymous=true":              `must not have parameter "anonymous"`,
		"s3://results?region=a&region=b":           `exactly one value of parameter "region"`,
		"s3://results?region=":                     `exactly one value of parameter "region"`,
		"s3://results?prefix=assay":                "must have a prefix that ends with /",
		"s3://results?prefix=/assay/":              "must have a prefix that ends with /",
		"s3://results?prefix=../":                  "must have a prefix that ends with /",
		"s3://results?region=%zz":                  "parameters that can't be read",
		"s3://results#a":                           "must be SCHEME://BUCKET",
		"s3:results":                               "must be SCHEME://BUCKET",
		"gs://results?private_key_path=/etc/key":   `must not have parameter "private_key_path"`,
		"azblob://results?sas=secret":              `must not have parameter "sas"`,
		"file://relative/path":                     "must be file:///DIRECTORY",
		"file:///var/lib/assay?secret_key_path=/k": `must not have parameter "secret_key_path"`,
		"s3://key:secret\x00@results":              "must be a URL",
	} {
		err := bucket.Check(address)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%q: the error has the password: %v", address, err)
		}
	}
}

func TestLocation(t *testing.T) {
	for address, want := range map[string]string{
		"s3://results?role=arn:aws:iam::1:role/a&region=eu-central-1&profile=team&prefix=a/": "s3://results?prefix=a%2F&region=eu-central-1",
		"s3://results":                          "s3://results",
		"file:///var/lib/assay?create_dir=true": "file:///var/lib/assay",
	} {
		if got, err := bucket.Location(address); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", address, got, err, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for address, want := range map[string]string{
		"s3://key:secret@results":       "open bucket: its URL must not have a user",
		"file:///does/not/exist":        "open bucket file:///does/not/exist: ",
		"s3://results?use_path_style=x": "open bucket s3://results: ",
	} {
		if b, err := bucket.Open(t.Context(), address); b != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}
