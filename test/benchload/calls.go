package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fewest is how many calls of a kind a request must have on average to be listed:
// the rest is the tool's start, and what the language's runtime does by time.
const fewest = 0.03

// tracepoint is what the names of the tracepoints of system calls begin with.
const tracepoint = "syscalls:sys_enter_"

// calls prints the system calls of a request: they are the floor under what it
// can cost. The kernel counts them at its tracepoints, which leaves the tools
// nearly as fast as they are: how often one waits, and for how much at once, is
// what it is without.
func (s *settings) calls(ctx context.Context, server *server, folder string) error {
	if _, err := exec.LookPath("perf"); err != nil {
		return fmt.Errorf("perf isn't there; make bench-deps installs it: %w", err)
	}
	fmt.Printf("\n| case | tool | system calls per request | of them |\n| --- | --- | --: | --- |\n")
	for _, c := range s.named() {
		if c.open {
			continue
		}
		l := &load{url: server.url(c.kib, c.tls), connections: c.connections, keepAlive: c.keepAlive, duration: s.duration, folder: folder}
		for _, t := range tools(s.cache) {
			if t.name != reference && t.name != own(s.cache).name {
				continue
			}
			counts := filepath.Join(folder, "calls")
			traced := t
			traced.program, traced.grace = "perf", 30*time.Second // which it takes to close all tracepoints
			traced.arguments = func(l *load) ([]string, error) {
				args, err := t.arguments(l)
				return append([]string{"stat", "-x,", "-o", counts, "-e", tracepoint + "*", t.program}, args...), err
			}
			sample, err := measure(ctx, &traced, l, s.clientCPU, nil)
			if err != nil {
				return fmt.Errorf("%s under perf: %w", t.name, err)
			}
			text, err := os.ReadFile(counts)
			if err != nil {
				return err
			}
			total, listed := perRequest(string(text), sample.requests)
			fmt.Printf("| %s | %s | %.2f | %s |\n", c.title(), t.name, total, listed)
		}
	}
	return nil
}

// perRequest reads perf's counts: what a request has of those listed, in all and
// each.
func perRequest(counts string, requests int64) (total float64, listed string) {
	var each []string
	for _, m := range regexp.MustCompile(`(?m)^(\d+),,`+tracepoint+`([a-z_0-9]+),`).FindAllStringSubmatch(counts, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n/float64(requests) < fewest {
			continue
		}
		total += n / float64(requests)
		each = append(each, fmt.Sprintf("%s %.2f", m[2], n/float64(requests)))
	}
	slices.Sort(each)
	return total, strings.Join(each, ", ")
}
