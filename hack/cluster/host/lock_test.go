package host

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestLockFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	first, err := LockFile(file, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockFile(file, false); !errors.Is(err, ErrLocked) {
		t.Errorf("taken twice: %v, want %v", err, ErrLocked)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := LockFile(file, false)
	if err != nil {
		t.Fatalf("not free after its end: %v", err)
	}
	second.Close()
}
