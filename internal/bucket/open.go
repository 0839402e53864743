package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	"gocloud.dev/blob/gcsblob"     // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcp"
)

// parameter says who needs a parameter of a bucket's URL.
type parameter int

const (
	// where is a parameter by which a bucket is found. Readers need it too.
	where parameter = iota + 1
	// how is a parameter by which it is written, or with whose rights.
	how
)

// prefix is the parameter with the beginning of all keys. It is known for every scheme.
const prefix = "prefix"

// checksums is the parameter of S3 that says when its SDK checks what it reads.
const checksums = "response_checksum_validation"

// schemes holds the parameters of each scheme. Those that would put credentials into a URL are missing.
var schemes = map[string]map[string]parameter{
	"s3": {
		prefix: where, "region": where, "endpoint": where, "use_path_style": where, "hostname_immutable": where, "dualstack": where, "fips": where,
		"accelerate": how, "profile": how, "role": how, "ssetype": how, "kmskeyid": how,
		"request_checksum_calculation": how, checksums: how,
	},
	"gs":     {prefix: where},
	"azblob": {prefix: where, "storage_account": where, "domain": where, "protocol": where, "localemu": where},
	"file":   {prefix: where, "create_dir": how},
}

// parse checks the URL of a bucket. The text of an error never has the URL's user and password.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("must be a URL such as s3://my-bucket?region=eu-central-1")
	}
	known, ok := schemes[u.Scheme]
	switch {
	case !ok:
		return nil, fmt.Errorf("must begin with one of %s", strings.Join(slices.Sorted(maps.Keys(schemes)), "://, ")+"://")
	case u.User != nil:
		return nil, errors.New("must not have a user or a password: credentials come from a Secret or the service account")
	case u.Fragment != "" || u.Opaque != "":
		return nil, errors.New("must be SCHEME://BUCKET with parameters after a question mark")
	case u.Scheme == "file" && (u.Host != "" || !strings.HasPrefix(u.Path, "/")):
		return nil, errors.New("must be file:///DIRECTORY with an absolute path")
	case u.Scheme != "file" && u.Host == "":
		return nil, fmt.Errorf("must have the name of the bucket: %s://BUCKET", u.Scheme)
	case u.Scheme != "file" && u.Path != "":
		return nil, errors.New("must not have a path: begin the keys with parameter prefix instead, such as ?prefix=assay/")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("has parameters that can't be read: escape their values")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if known[name] == 0 {
			return nil, fmt.Errorf("must not have parameter %q; those of %s:// are %s", name, u.Scheme, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if len(query[name]) != 1 || query[name][0] == "" {
			return nil, fmt.Errorf("must have exactly one value of parameter %q", name)
		}
	}
	if p := query.Get(prefix); p != "" && (!strings.HasSuffix(p, "/") || strings.HasPrefix(p, "/") || strings.Contains(p, "..")) {
		return nil, fmt.Errorf("must have a %s that ends with / and doesn't begin with it, without \"..\"", prefix)
	}
	return u, nil
}

// Check returns what is wrong with the URL of a bucket, or nil. Its text follows the name of a field.
func Check(address string) error {
	_, err := parse(address)
	return err
}

// Location returns the URL by which others find a bucket, with their own credentials: without the parameters that only
// concern how it is written.
func Location(address string) (string, error) {
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	query := u.Query()
	for name := range query {
		if schemes[u.Scheme][name] != where {
			query.Del(name)
		}
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// Open opens the bucket at a URL with the credentials that its SDK finds: those in the environment and in files that
// the environment names, or those of the pod's service account. Only the service knows whether they are good.
func Open(ctx context.Context, address string) (*Bucket, error) {
	u, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("open bucket: its URL %w", err)
	}
	name := u.Scheme + "://" + u.Host + u.Path
	blobs, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, explain(ctx, err))
	}
	return &Bucket{blobs: blobs, name: name}, nil
}

func open(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	query := u.Query()
	switch u.Scheme {
	case "gs":
		// The opener of package gcsblob prints to the standard output, and never looks for credentials again.
		credentials, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return nil, err
		}
		client, err := gcp.NewHTTPClient(gcp.DefaultTransport(), credentials.TokenSource)
		if err != nil {
			return nil, err
		}
		blobs, err := gcsblob.OpenBucket(ctx, client, u.Host, nil)
		if p := query.Get(prefix); err == nil && p != "" {
			blobs = blob.PrefixedBucket(blobs, p)
		}
		return blobs, err
	case "s3":
		if !query.Has(checksums) {
			query.Set(checksums, "when_required") // Get checks the digest; the SDK would log what it can't check
		}
	case "file":
		query.Set("no_tmp_dir", "true") // a rename works only within a file system
		query.Set("metadata", "skip")
	}
	opened := *u
	opened.RawQuery = query.Encode()
	return blob.DefaultURLMux().OpenBucketURL(ctx, &opened)
}
