package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/exit"
)

// openers are the programs that show a file as the user has chosen, by operating system.
var openers = map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}

// openPage writes a page to a temporary file and opens it in the browser. The file stays, since the browser reads it later. A page
// that comes with an error, as that of a failed run, is opened too.
func openPage(ctx context.Context, write func(io.Writer) error, streams genericiooptions.IOStreams) error {
	file, err := os.CreateTemp("", "assay-*.html")
	if err != nil {
		return exit.Errorf(exit.Unknown, "create a file for the page: %w", err)
	}
	written := write(file)
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return exit.Errorf(exit.Unknown, "write the page: %w", err)
	}
	if info.Size() == 0 {
		return errors.Join(written, os.Remove(file.Name()))
	}
	command, known := openers[runtime.GOOS]
	if !known {
		command = []string{"xdg-open"}
	}
	_, _ = fmt.Fprintf(streams.Out, "The page is in %s.\n", file.Name())
	browser := exec.CommandContext(ctx, command[0], append(command[1:], file.Name())...) //nolint:gosec // one of openers
	browser.Stderr = streams.ErrOut
	if err := browser.Run(); err != nil && written == nil {
		return exit.Errorf(exit.Unknown, "cannot open a browser with %s; open the file yourself: %w", command[0], err)
	}
	return written
}
