package bucket

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// Config says into which bucket the whole results of each namespace go.
type Config struct {
	// Default is the URL of the bucket of namespaces that Namespaces doesn't have, or empty for none.
	Default string `json:"default,omitempty"`
	// Namespaces holds the URLs of buckets by namespace, empty for none.
	Namespaces map[string]string `json:"namespaces,omitempty"`
}

// ReadConfig reads a Config from YAML. Errors begin with the name of the field.
func ReadConfig(data []byte) (*Config, error) {
	c := &Config{}
	if err := yaml.UnmarshalStrict(data, c); err != nil {
		return nil, fmt.Errorf("must be YAML with the fields default and namespaces: %w", err)
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

	mu   sync.Mutex
	open map[string]*Bucket // by URL
}

// New returns the buckets of a Config that ReadConfig returned.
func New(c *Config) *Buckets { return &Buckets{config: c, open: map[string]*Bucket{}} }

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
