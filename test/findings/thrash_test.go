package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLimitedGroup(t *testing.T) {
	for name, test := range map[string]struct{ controller, group, file string }{
		"version 1": {"memory", "memory/assay-findings", "memory.limit_in_bytes"},
		"version 2": {"", "assay-findings", "memory.max"},
	} {
		t.Run(name, func(t *testing.T) {
			mount := t.TempDir()
			if err := os.MkdirAll(filepath.Join(mount, test.controller), 0o755); err != nil {
				t.Fatal(err)
			}
			group, err := limitedGroup(mount, thrashLimit)
			if err != nil {
				t.Fatal(err)
			}
			limit, err := os.ReadFile(filepath.Join(group, test.file))
			if group != filepath.Join(mount, test.group) || err != nil || string(limit) != "33554432" {
				t.Errorf("%s: %q, %v", group, limit, err)
			}
		})
	}
}

func TestUncachedFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	name, err := uncachedFile(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil || len(text) < 2<<20 || !strings.HasPrefix(string(text), "assay") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	h := thrasher{file: name}
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
