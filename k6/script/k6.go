package script

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"go.k6.io/k6/v2/errext/exitcodes"
)

// exitStatus is the outcome of a k6 process.
type exitStatus struct {
	code exitcodes.ExitCode
	// message is the last error that k6 logged, or empty if it logged none.
	message string
}

// process is a child process that runs k6. k6 gets a process of its own because
// it exits its process and handles its signals.
type process struct {
	command    *exec.Cmd
	log        *slog.Logger
	secrets    []string   // values that are replaced in log messages
	childFiles []*os.File // k6's ends of the pipes
	// logsFrom is a message of k6's log: it and what comes before it aren't forwarded. Empty forwards everything.
	logsFrom string

	mu      sync.Mutex
	child   *os.Process // nil until k6 is started
	message string
	// thrown is the number of iterations that ended with an error, exception that of the first.
	thrown    int64
	exception string
	// interrupted is the number of iterations that k6 interrupted.
	interrupted int64
}

// asK6 holds the arguments that make this process's program act as k6.
var asK6 = []string{"k6"}

// RunsAsK6 says that this process's program is a build of k6, which acts as k6 without further arguments. It must be called before a
// client is made.
func RunsAsK6() { asK6 = nil }

// newProcess returns a process, not yet started, that runs k6 with the arguments
// args in the given working directory, or in that of this process if it is empty.
func newProcess(program, directory string, env map[string]string, secrets []string, log *slog.Logger, args ...string) *process {
	p := &process{command: exec.Command(program, append(append(asK6[:len(asK6):len(asK6)], "--log-format", "json"), args...)...), log: log, secrets: secrets}
	p.command.Dir = directory
	for _, name := range slices.Sorted(maps.Keys(env)) {
		p.command.Env = append(p.command.Env, name+"="+env[name])
	}
	// The child is killed when this process exits, and a process group of its own
	// keeps it from receiving this process's signals.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return p
}

// pipes creates two pipes. k6 reads what is written to the first from its file
// descriptor 3, and writes what is read from the second to its file descriptor 4.
func (p *process) pipes() (to io.WriteCloser, from io.Reader, err error) {
	theirIn, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	ours, theirOut, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, theirIn.Close(), to.Close())
	}
	p.command.ExtraFiles = []*os.File{theirIn, theirOut}
	p.childFiles = []*os.File{theirIn, theirOut}
	return to, ours, nil
}

// run starts k6 and waits until it exits.
func (p *process) run() (exitStatus, error) {
	runtime.LockOSThread() // Pdeathsig kills the child when the thread that started it exits
	defer runtime.UnlockOSThread()
	stderr, err := p.command.StderrPipe()
	if err != nil {
		return exitStatus{}, err
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return exitStatus{}, err
	}
	err = p.command.Start()
	for _, file := range p.childFiles {
		_ = file.Close() // k6 has duplicates
	}
	if err != nil {
		return exitStatus{}, fmt.Errorf("start k6: %w", err)
	}
	p.mu.Lock()
	p.child = p.command.Process
	p.mu.Unlock()
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		eachLine(stdout, p.countInterrupted)
	}()
	eachLine(stderr, p.forwardLine)
	<-counted
	err = p.command.Wait()
	var failed *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &failed) && failed.Exited():
	default: // terminated by a signal
		return exitStatus{}, fmt.Errorf("run k6: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return exitStatus{code: exitcodes.ExitCode(p.command.ProcessState.ExitCode()), message: p.message}, nil //nolint:gosec // it is from 0 to 255
}

// Messages of k6's log that "k6 run" alone doesn't have.
const (
	failedSetup    = "Error executing setup"
	failedTeardown = "Error executing teardown"
	outputStopped  = "Received error to stop from output"
)

// maxLineBytes is the maximum length of a line of k6's log. Longer lines are split.
const maxLineBytes = 64 << 10

// eachLine calls handle for each line of an output of k6.
func eachLine(output io.Reader, handle func([]byte)) {
	reader := bufio.NewReaderSize(output, maxLineBytes)
	for {
		line, err := reader.ReadSlice('\n')
		if len(line) > 0 {
			handle(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// progress matches k6's progress. k6 has no metric of the iterations that it interrupts, and says their number there alone, for the last
// time before it exits.
var progress = regexp.MustCompile(`^(?:running|paused).* VUs, \d+ complete and (\d+) interrupted iterations\n$`)

func (p *process) countInterrupted(line []byte) {
	if found := progress.FindSubmatch(line); found != nil {
		p.interrupted, _ = strconv.ParseInt(string(found[1]), 10, 64)
	}
}

// forwardLine copies a line of k6's log to p.log, and remembers the last error.
func (p *process) forwardLine(line []byte) {
	var entry map[string]any
	if err := json.Unmarshal(line, &entry); err != nil {
		if text := string(bytes.TrimSpace(line)); text != "" {
			p.log.Info(p.redact(text), "source", "k6")
			p.remember(p.redact(text))
		}
		return
	}
	text := func(key string) string {
		value, ok := entry[key].(string)
		if !ok {
			return ""
		}
		delete(entry, key)
		return p.redact(value)
	}
	message, level := text("msg"), text("level")
	text("time")
	switch message {
	case failedSetup, failedTeardown: // of k6's API: without it, k6 logs the error only
		message = cmp.Or(text("error"), message)
	case outputStopped: // for a threshold, which k6 logs at the end
		return
	}
	if p.logsFrom != "" {
		if level == "error" {
			p.remember(message)
		}
		if message == p.logsFrom {
			p.logsFrom = ""
		}
		return
	}
	fields := []any{"source", "k6"}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		fields = append(fields, "k6_"+key, p.redact(fmt.Sprint(entry[key])))
	}
	switch level {
	case "error", "fatal", "panic":
		p.log.Error(message, fields...)
		if _, ofIteration := entry["executor"]; ofIteration { // k6 has no metric of them
			p.throw(message)
		}
		if hint, ok := entry["hint"]; ok {
			message += fmt.Sprintf(" (hint: %s)", p.redact(fmt.Sprint(hint)))
		}
		p.remember(message)
	case "warning":
		p.log.Warn(message, fields...)
	default:
		p.log.Info(message, fields...)
	}
}

func (p *process) remember(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.message = message
}

func (p *process) throw(exception string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.thrown++; p.thrown == 1 {
		p.exception = exception
	}
}

// signal sends a signal to k6 if it is running. It reports whether k6 was ever started.
func (p *process) signal(s os.Signal) (started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child != nil {
		_ = p.child.Signal(s) // fails if k6 has exited
	}
	return p.child != nil
}

// redact replaces the values of secrets in a text by ***.
func (p *process) redact(text string) string {
	for _, secret := range p.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// minSecretLength is the minimum length of a value that is redacted. Shorter
// values are likely to occur in texts by chance.
const minSecretLength = 4

// secretsIn returns the values of the named environment variables that have to be redacted. The
// longest comes first, so that a secret that contains another one is replaced as a whole.
func secretsIn(environment map[string]string, names []string) []string {
	var secrets []string
	for _, name := range names {
		if value := environment[name]; len(value) >= minSecretLength {
			secrets = append(secrets, value)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}
