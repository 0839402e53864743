package bucket

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestReadReclaimPolicy(t *testing.T) {
	for text, want := range map[string]struct {
		reclaims bool
		timeout  time.Duration
		err      string
	}{
		"default: file:///tmp":                                {false, 5 * time.Minute, ""},
		"reclaimPolicy: Retain":                               {false, 5 * time.Minute, ""},
		"reclaimPolicy: Delete":                               {true, 5 * time.Minute, ""},
		"{reclaimPolicy: Delete, deletionTimeoutSeconds: 30}": {true, 30 * time.Second, ""},
		"reclaimPolicy: delete":                               {false, 0, "reclaimPolicy must be Retain or Delete"},
		"deletionTimeoutSeconds: 29":                          {false, 0, "deletionTimeoutSeconds must be from 30 to 86400"},
		"deletionTimeoutSeconds: 86401":                       {false, 0, "deletionTimeoutSeconds must be from 30 to 86400"},
		"deletionTimeoutSeconds: 5m":                          {false, 0, "deletionTimeoutSeconds"},
	} {
		c, err := ReadConfig([]byte(text))
		if (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil {
			continue
		}
		if reclaims, timeout := New(c).Reclaims(); reclaims != want.reclaims || timeout != want.timeout {
			t.Errorf("%s: %t after %s", text, reclaims, timeout)
		}
	}
}

// TestReclaim deletes the objects of a run from the bucket of its namespace, and from the one that this had before.
func TestReclaim(t *testing.T) {
	before, now, third := t.TempDir(), t.TempDir(), t.TempDir()
	b := New(&Config{Default: "file://" + before, Namespaces: map[string]string{"ns": "file://" + now + "?create_dir=true", "none": ""}})
	prefix, other := Prefix("ns", "run", "1"), Prefix("ns", "run", "12")
	put := func() {
		for _, namespace := range []string{"ns", "default"} {
			for _, key := range []string{prefix + "a", prefix + "b", other + "a"} {
				if err := b.Put(t.Context(), namespace, key, []byte(key)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, test := range map[string]struct {
		namespace, location string
		want                int
		err                 error
	}{
		"its own":                     {"ns", "", 2, nil},
		"its own, by name":            {"ns", b.Location("ns"), 2, nil},
		"its own and an earlier one":  {"ns", "file://" + before, 4, nil},
		"one that is gone":            {"ns", "file://" + third, 2, ErrNotConfigured},
		"an earlier one, none by now": {"none", "file://" + before, 2, nil},
		"none":                        {"none", "", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			put()
			if n, err := b.Reclaim(t.Context(), test.namespace, test.location, prefix); n != test.want || !errors.Is(err, test.err) || err != nil && test.err == nil {
				t.Errorf("deleted %d, %v", n, err)
			}
			for _, namespace := range []string{"ns", "default"} {
				if n, err := b.Reclaim(t.Context(), namespace, "", other); n != 1 || err != nil {
					t.Errorf("another run's object is gone from the bucket of %s: %v", namespace, err)
				}
			}
		})
	}
}

// TestReclaimTakesTurns has a bucket that doesn't answer: further deletions end with their time.
func TestReclaimTakesTurns(t *testing.T) {
	b := New(&Config{Default: "file://" + t.TempDir()})
	for range maxReclaims {
		b.turns <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Reclaim(ctx, "ns", "", "ns/run-1/"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "other runs") {
		t.Error(err)
	}
	<-b.turns
	if _, err := b.Reclaim(t.Context(), "ns", "", "ns/run-1/"); err != nil || len(b.turns) != maxReclaims-1 {
		t.Errorf("%v, %d turns are taken", err, len(b.turns))
	}
}
