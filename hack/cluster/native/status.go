package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assay-dev/assay/hack/cluster/process"
)

// ErrUnhealthy is returned by Status if a part is not healthy.
var ErrUnhealthy = errors.New("not all parts are healthy; `up` starts those that are down")

// Status prints the pid, health and version of each part.
func (l Layout) Status(ctx context.Context, out io.Writer) error {
	if !l.Exists() {
		return errors.New("cluster not found; `up` creates one")
	}
	bad := false
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PART\tPID\tHEALTH\tVERSION")
	fmt.Fprintf(table, "%s\t%s\t%s\t\n", supervisor, l.pid(supervisor), aliveWord(l.alive(supervisor)))
	bad = bad || !l.alive(supervisor)
	for _, d := range l.daemons("") {
		health := "healthy"
		if err := l.healthyNow(ctx, d); err != nil {
			health, bad = err.Error(), true
		}
		if l.held(d.name) {
			health = "stopped on purpose"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", d.name, l.pid(d.name), health, version(ctx, d.path))
	}
	for _, inside := range []struct {
		part  string
		check func(context.Context) error
	}{{"node " + nodeName, l.nodeReady}, {"coredns", l.dnsReady}} {
		health := "ready"
		if err := inside.check(ctx); err != nil {
			health, bad = err.Error(), true
		}
		fmt.Fprintf(table, "%s\t\t%s\t\n", inside.part, health)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nkubeconfig  %s\nlogs        %s\n", l.Kubeconfig(), l.state("log"))
	if bad {
		return ErrUnhealthy
	}
	return nil
}

func (l Layout) alive(name string) bool {
	id, err := process.Read(l.pidFile(name))
	return err == nil && id.Alive()
}

func aliveWord(alive bool) string {
	if alive {
		return "healthy"
	}
	return "not running"
}

func (l Layout) pid(name string) string {
	id, err := process.Read(l.pidFile(name))
	if err != nil || !id.Alive() {
		return "-"
	}
	return fmt.Sprint(id.PID)
}

// version returns the version that a program prints: the last word of the first
// line that contains a digit.
func version(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "?"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	fields := strings.Fields(line)
	for _, field := range fields {
		if strings.ContainsAny(field, "0123456789") && strings.Contains(field, ".") && !strings.Contains(field, "/") {
			return field
		}
	}
	return line
}

// StopPart stops one daemon and keeps the supervisor from restarting it, to simulate an outage.
func (l Layout) StopPart(name string) error {
	d, err := l.part(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.holdFile(name), nil, 0o644); err != nil {
		return err
	}
	return l.stop(name, d.stopGrace)
}

// StartPart starts a daemon that StopPart stopped and waits until it is healthy.
func (l Layout) StartPart(ctx context.Context, name string) error {
	d, err := l.part(name)
	if err != nil {
		return err
	}
	if err := os.Remove(l.holdFile(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, err = waitFor(ctx, 60*time.Second, func() error { return l.healthyNow(ctx, d) })
	return err
}

func (l Layout) part(name string) (daemon, error) {
	var names []string
	for _, d := range l.daemons("") {
		if d.name == name {
			return d, nil
		}
		names = append(names, d.name)
	}
	return daemon{}, fmt.Errorf("unknown part %q: must be one of %s", name, strings.Join(names, ", "))
}
