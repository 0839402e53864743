package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/testserver"
)

// mainVariable makes the test binary act as assay-k6. The tests run it in a separate process.
const mainVariable = "ASSAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) (process *exec.Cmd, output, errors *bytes.Buffer) {
	t.Helper()
	return start(t, os.Args[0], args...)
}

func start(t *testing.T, path string, args ...string) (process *exec.Cmd, output, errors *bytes.Buffer) {
	t.Helper()
	process = exec.CommandContext(t.Context(), path, args...)
	process.Env = append(os.Environ(), mainVariable+"=1")
	output, errors = &bytes.Buffer{}, &bytes.Buffer{}
	process.Stdout, process.Stderr = output, errors
	return process, output, errors
}

// assayK6 runs the program and returns its output and its exit code.
func assayK6(t *testing.T, args ...string) (output, errors string, code int) {
	t.Helper()
	process, out, errs := program(t, args...)
	process.Env = append(process.Env, "TMPDIR="+t.TempDir())
	_ = process.Run()
	return out.String(), errs.String(), process.ProcessState.ExitCode()
}

// TestHandOver runs the real assay-load, beside which this program is, by a path and by a symbolic link.
func TestHandOver(t *testing.T) {
	directory, linked := t.TempDir(), t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", directory, "./cmd/assay-load")
	build.Dir = "../../.." // of the other module
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	own, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, command.K6), own, 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	load := filepath.Join(linked, "load")
	if err := os.Symlink(filepath.Join(directory, "assay-load"), load); err != nil {
		t.Fatal(err)
	}
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(64) })
	script := scriptFile(t, `
import http from 'k6/http';
export const options = { iterations: 20 };
export default function () { http.get(__ENV.BASE_URL + '/' + __ENV.PAGE) }
`)
	for _, test := range []struct {
		args  []string
		codes []int
		want  string
	}{
		{[]string{"k6", "version"}, []int{0}, "v2.2.0"},
		{[]string{"k6", "run", "--help"}, []int{0}, "--vus"},
		{[]string{"client", "--script"}, []int{command.ExitFailed}, "assay-load: environment variable ASSAY_MANAGER isn't set"},
		{[]string{"run", "--url", "http://" + server.Address(), script, "-e", "PAGE=a b"}, []int{command.ExitValid, command.ExitNotValid}, "Complete requests:      20\n"},
	} {
		process, output, errors := start(t, load, test.args...)
		process.Env = append(process.Env, "ASSAY_MANAGER=")
		_ = process.Run()
		allowed := false
		for _, code := range test.codes {
			allowed = allowed || process.ProcessState.ExitCode() == code
		}
		if printed := output.String() + errors.String(); !allowed || !strings.Contains(printed, test.want) {
			t.Errorf("%v: exit code %d, printed\n%s", test.args, process.ProcessState.ExitCode(), printed)
		}
	}
}
