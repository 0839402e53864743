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
	row := func(of Layout, name, part, good, version string, err error) {
		pid := "-"
		if n := of.pid(part); n != 0 {
			pid = strconv.Itoa(n)
		}
		health := good
		if err != nil {
			health, bad = err.Error(), true
		}
		if of.held(part) {
			health = "stopped on purpose"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, pid, health, version)
	}
	node := func(of Layout) {
		var supervisorErr error
		if !of.running(supervisor) {
			supervisorErr = errNotRunning
		}
		row(of, of.partName(supervisor), supervisor, "healthy", "", supervisorErr)
		for _, d := range of.daemons("") {
			row(of, of.partName(d.name), d.name, "healthy", version(ctx, d.path), of.healthyNow(ctx, d))
		}
		row(of, "node "+of.node().name, "-", "ready", "", of.nodeReady(ctx))
	}
	node(l)
	row(l, "coredns", "-", "ready", "", l.dnsReady(ctx))
	switch {
	case l.hasSecond() && l.held(secondNode.name):
		row(l, "node "+secondNode.name, secondNode.name, "", "", errNotRunning)
	case l.hasSecond():
		node(l.second())
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

// StopPart stops one daemon and keeps the supervisor from restarting it, or the whole second
// node, to simulate an outage.
func (l Layout) StopPart(name string) error {
	if name == secondNode.name && l.hasSecond() {
		return l.stopNode()
	}
	of, d, err := l.part(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(of.holdFile(d.name), nil, 0o644); err != nil {
		return err
	}
	return of.stop(d.name, d.stopGrace)
}

// StartPart starts what StopPart stopped. It returns when the daemon is healthy, or the node ready.
func (l Layout) StartPart(ctx context.Context, name string, report func(string, ...any)) error {
	if name == secondNode.name && l.hasSecond() {
		return l.restartNode(ctx, report)
	}
	of, d, err := l.part(name)
	if err != nil {
		return err
	}
	if err := os.Remove(of.holdFile(d.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, err = waitFor(ctx, 60*time.Second, func() error { return of.healthyNow(ctx, d) })
	return err
}

// part returns the daemon with this name and the directories of its node.
func (l Layout) part(name string) (Layout, daemon, error) {
	nodes := []Layout{l}
	if l.hasSecond() {
		nodes = append(nodes, l.second())
	}
	var names []string
	for _, of := range nodes {
		for _, d := range of.daemons("") {
			if of.partName(d.name) == name {
				return of, d, nil
			}
			names = append(names, of.partName(d.name))
		}
	}
	if l.hasSecond() {
		names = append(names, secondNode.name)
	}
	return Layout{}, daemon{}, fmt.Errorf("unknown part %q: must be one of %s", name, strings.Join(names, ", "))
}
