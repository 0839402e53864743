package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"go.k6.io/k6/v2/errext/exitcodes"
)

// exit is how k6 ended.
type exit struct {
	code exitcodes.ExitCode
	// message is the last error that k6 logged.
	message string
}

// process is k6 in a process of its own, this program's: what k6 does to its
// process, and the signals that it answers to, are then its own.
type process struct {
	command *exec.Cmd
	log     *slog.Logger
	secrets []string // that its log doesn't show
	theirs  []*os.File

	mu      sync.Mutex
	child   *os.Process // nil until it was started
	message string
}

// newProcess returns k6 with the arguments of its command line, not yet
// started.
func newProcess(program, folder string, env map[string]string, secrets []string, log *slog.Logger, args ...string) *process {
	p := &process{command: exec.Command(program, append([]string{"k6", "--log-format", "json"}, args...)...), log: log, secrets: secrets}
	p.command.Dir = folder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		p.command.Env = append(p.command.Env, name+"="+env[name])
	}
	// It never outlives this process, and gets no signals that are for this one.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return p
}

// pipes returns a pipe that k6 reads from as its file 3, and one that it writes
// to as its file 4.
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
	p.theirs = []*os.File{theirIn, theirOut}
	return to, ours, nil
}

// run runs k6 to its end.
func (p *process) run() (exit, error) {
	runtime.LockOSThread() // the child dies with the thread that started it
	defer runtime.UnlockOSThread()
	stderr, err := p.command.StderrPipe()
	if err != nil {
		return exit{}, err
	}
	p.command.Stdout = io.Discard
	err = p.command.Start()
	for _, file := range p.theirs {
		_ = file.Close() // k6 has its own
	}
	if err != nil {
		return exit{}, fmt.Errorf("start k6: %w", err)
	}
	p.mu.Lock()
	p.child = p.command.Process
	p.mu.Unlock()
	p.read(stderr)
	err = p.command.Wait()
	var failed *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &failed) && failed.Exited():
	default: // a signal ended it
		return exit{}, fmt.Errorf("k6 ended: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return exit{code: exitcodes.ExitCode(p.command.ProcessState.ExitCode()), message: p.message}, nil //nolint:gosec // it is from 0 to 255
}

// longestLine bounds a line of k6's log, in bytes.
const longestLine = 64 << 10

// read passes k6's log on, and remembers the last error.
func (p *process) read(log io.Reader) {
	reader := bufio.NewReaderSize(log, longestLine)
	for {
		line, err := reader.ReadSlice('\n')
		if len(line) > 0 {
			p.line(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (p *process) line(line []byte) {
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
	fields := []any{"source", "k6"}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		fields = append(fields, "k6_"+key, p.redact(fmt.Sprint(entry[key])))
	}
	switch level {
	case "error", "fatal", "panic":
		p.log.Error(message, fields...)
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

// signal sends k6 a signal, if it runs, and is whether k6 was started.
func (p *process) signal(s os.Signal) (started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child != nil {
		_ = p.child.Signal(s) // it fails when k6 has ended
	}
	return p.child != nil
}

// redact replaces what is secret in a text.
func (p *process) redact(text string) string {
	for _, secret := range p.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// shortestSecret is the length of a value from which on it is hidden: what is
// shorter stands in every second text by chance.
const shortestSecret = 4

// secretsIn are the values of variables that are secret, the longest first, so
// that none is hidden only in part.
func secretsIn(environment map[string]string, names []string) []string {
	var secrets []string
	for _, name := range names {
		if value := environment[name]; len(value) >= shortestSecret {
			secrets = append(secrets, value)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}
