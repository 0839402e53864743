package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrLocked is returned by LockFile if another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock keeps two commands from changing the cluster whose files are in a directory at the same time.
func Lock(dir string, report func(string, ...any)) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "lock")
	lock, err := LockFile(file, false)
	if errors.Is(err, ErrLocked) {
		report("waiting for another command on this cluster")
		return LockFile(file, true)
	}
	return lock, err
}

// LockFile acquires an exclusive lock, which the kernel releases when the process
// exits. Without wait it returns ErrLocked if another process holds the lock.
func LockFile(file string, wait bool) (*os.File, error) {
	for {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		how := syscall.LOCK_EX
		if !wait {
			how |= syscall.LOCK_NB
		}
		if err := syscall.Flock(int(f.Fd()), how); err != nil {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, ErrLocked
			}
			return nil, fmt.Errorf("lock %s: %w", file, err)
		}
		// `down` may have removed the file while this process waited.
		ours, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if now, err := os.Stat(file); err == nil && os.SameFile(ours, now) {
			return f, nil
		}
		f.Close()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
	}
}
