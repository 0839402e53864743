package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
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
	row := func(part, good, version string, err error) {
		pid := "-"
		if n := l.pid(part); n != 0 {
			pid = strconv.Itoa(n)
		}
		health := good
		if err != nil {
			health, bad = err.Error(), true
		}
		if l.held(part) {
			health = "stopped on purpose"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", part, pid, health, version)
	}
	var supervisorErr error
	if !l.running(supervisor) {
		supervisorErr = errNotRunning
	}
	row(supervisor, "healthy", "", supervisorErr)
	for _, d := range l.daemons("") {
		row(d.name, "healthy", version(ctx, d.path), l.healthyNow(ctx, d))
	}
	row("node "+nodeName, "ready", "", l.nodeReady(ctx))
	row("coredns", "ready", "", l.dnsReady(ctx))
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nkubeconfig  %s\nlogs        %s\n", l.Kubeconfig(), l.state("log"))
	if bad {
		return ErrUnhealthy
	}
	return nil
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
