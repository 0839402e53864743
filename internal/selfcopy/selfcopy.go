// Package selfcopy copies the running program, for containers whose image doesn't have it.
package selfcopy

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Copy copies this program to a file that everybody may execute, whatever the umask. The server that executes it may run as
// another user.
func Copy(path string) (err error) {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	return to.Chmod(0o555)
}
