package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// Config says into which bucket the full results of each namespace go.
type Config struct {
	// Default is the URL of the bucket of namespaces that Namespaces doesn't have, or empty for none.
	Default string `json:"default,omitempty"`
	// Namespaces holds the URLs of buckets by namespace, empty for none.
	Namespaces map[string]string `json:"namespaces,omitempty"`
	// ReclaimPolicy says what becomes of the objects of a run that is deleted. ReadConfig sets Retain if it is omitted.
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
	// DeletionTimeoutSeconds limits the time for which a bucket that fails to delete its objects keeps a run from being
	// deleted. ReadConfig sets 300 if it is omitted.
	DeletionTimeoutSeconds int64 `json:"deletionTimeoutSeconds,omitempty"`
}

// ReclaimPolicy says what becomes of the objects of a run that is deleted, in the words of PersistentVolumes.
type ReclaimPolicy string

const (
	// Retain leaves them to the bucket's lifecycle.
	Retain ReclaimPolicy = "Retain"
	// Delete deletes them before the run is gone.
	Delete ReclaimPolicy = "Delete"
)

// Bounds of DeletionTimeoutSeconds, and its default.
const (
	minDeletionTimeout     = 30
	defaultDeletionTimeout = 300
	maxDeletionTimeout     = 24 * 60 * 60
)

// maxReclaims bounds the runs whose objects are deleted at the same time.
const maxReclaims = 8

// ErrNotConfigured reports that the manager has no bucket at a URL.
var ErrNotConfigured = errors.New("the manager has no such bucket")

// ReadConfig reads a Config from YAML. Errors begin with the name of the field.
func ReadConfig(data []byte) (*Config, error) {
	c := &Config{}
	if err := yaml.UnmarshalStrict(data, c); err != nil {
		return nil, fmt.Errorf("must be YAML with the fields default, namespaces, reclaimPolicy and deletionTimeoutSeconds: %w", err)
	}
	c.ReclaimPolicy = cmp.Or(c.ReclaimPolicy, Retain)
	if c.ReclaimPolicy != Retain && c.ReclaimPolicy != Delete {
		return nil, fmt.Errorf("reclaimPolicy must be %s or %s", Retain, Delete)
	}
	c.DeletionTimeoutSeconds = cmp.Or(c.DeletionTimeoutSeconds, defaultDeletionTimeout)
	if s := c.DeletionTimeoutSeconds; s < minDeletionTimeout || s > maxDeletionTimeout {
		return nil, fmt.Errorf("deletionTimeoutSeconds must be from %d to %d", minDeletionTimeout, maxDeletionTimeout)
	}
	if c.Default != "" {
		if err := Check(c.Default); err != nil {
			return nil, fmt.Errorf("default %w", err)
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(c.Namespaces)) {
		if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
			return nil, fmt.Errorf("namespaces has %q, which is not a namespace: %s", namespace, strings.Join(wrong, "; "))
		}
		if address := c.Namespaces[namespace]; address != "" {
			if err := Check(address); err != nil {
				return nil, fmt.Errorf("namespaces.%s %w", namespace, err)
			}
		}
	}
	return c, nil
}

func (c *Config) address(namespace string) string {
	if address, ok := c.Namespaces[namespace]; ok {
		return address
	}
	return c.Default
}

// Buckets are the buckets of all namespaces. Each is opened when it is first used. They are safe for concurrent use.
type Buckets struct {
	config *Config
	// turns bounds the calls of Reclaim that run at the same time.
	turns chan struct{}

	mu   sync.Mutex
	open map[string]*Bucket // by URL
}

// New returns the buckets of a Config that ReadConfig returned.
func New(c *Config) *Buckets {
	return &Buckets{config: c, turns: make(chan struct{}, maxReclaims), open: map[string]*Bucket{}}
}

// Location returns the URL by which readers find the bucket of a namespace, or "" if it has none.
func (b *Buckets) Location(namespace string) string {
	address := b.config.address(namespace)
	if address == "" {
		return ""
	}
	location, err := Location(address)
	if err != nil {
		return "" // cannot happen: ReadConfig checked it
	}
	return location
}

// Put creates an object in the bucket of a namespace, which must have one; see Bucket.Put.
func (b *Buckets) Put(ctx context.Context, namespace, key string, data []byte) error {
	bucket, err := b.bucket(ctx, b.config.address(namespace))
	if err != nil {
		return err
	}
	return bucket.Put(ctx, key, data)
}

// Reclaims reports whether the objects of a run are deleted with it, and how long they may keep it from being deleted.
func (b *Buckets) Reclaims() (bool, time.Duration) {
	return b.config.ReclaimPolicy == Delete, time.Duration(b.config.DeletionTimeoutSeconds) * time.Second
}

// Reclaim deletes the objects whose keys begin with prefix from the bucket of a namespace, and from the one at
// location, which the namespace may have had before. It returns their number. The error wraps ErrNotConfigured if the
// manager has no bucket at location, which may be empty. A call may wait for others; that counts as time of ctx.
func (b *Buckets) Reclaim(ctx context.Context, namespace, location, prefix string) (int, error) {
	addresses := map[string]bool{}
	if own := b.config.address(namespace); own != "" {
		addresses[own] = true
	}
	var errs []error
	if location != "" && location != b.Location(namespace) {
		if other := b.at(location); other != "" {
			addresses[other] = true
		} else {
			errs = append(errs, fmt.Errorf("bucket %s: %w", location, ErrNotConfigured))
		}
	}
	select {
	case b.turns <- struct{}{}:
		defer func() { <-b.turns }()
	case <-ctx.Done():
		return 0, fmt.Errorf("the objects of other runs are being deleted: %w", ctx.Err())
	}
	deleted := 0
	for _, address := range slices.Sorted(maps.Keys(addresses)) {
		bucket, err := b.bucket(ctx, address)
		if err == nil {
			var n int
			n, err = bucket.DeleteAll(ctx, prefix)
			deleted += n
		}
		errs = append(errs, err)
	}
	return deleted, errors.Join(errs...)
}

// at returns the URL, as it is configured, of the bucket that readers find at location, or "" if there is none.
func (b *Buckets) at(location string) string {
	for _, address := range append(slices.Sorted(maps.Values(b.config.Namespaces)), b.config.Default) {
		if found, err := Location(address); err == nil && found == location {
			return address
		}
	}
	return ""
}

func (b *Buckets) bucket(ctx context.Context, address string) (*Bucket, error) {
	b.mu.Lock()
	bucket := b.open[address]
	b.mu.Unlock()
	if bucket != nil {
		return bucket, nil
	}
	// Not under the lock: it may ask the network for credentials. Those are renewed with the same context, long after this attempt.
	bucket, err := Open(context.WithoutCancel(ctx), address)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if other := b.open[address]; other != nil {
		_ = bucket.Close()
		return other, nil
	}
	b.open[address] = bucket
	return bucket, nil
}
