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

// minCalls is the number of calls of a kind per request from which it is listed. Fewer
// belong to the tool's startup and to periodic work of the language's runtime.
const minCalls = 0.03

// tracepoint is the prefix of the names of system call tracepoints.
const tracepoint = "syscalls:sys_enter_"

// calls prints the system calls of a request, which are the lower bound of its cost. The
// kernel counts them at its tracepoints. That hardly slows the tools down, so that they
// wait as often, and for as many events at once, as without it.
func (s *settings) calls(ctx context.Context, server *server, directory string) error {
	if _, err := exec.LookPath("perf"); err != nil {
		return fmt.Errorf("find perf: %w. Install it with make bench-deps", err)
	}
	fmt.Printf("\n| case | tool | system calls per request | of them |\n| --- | --- | --: | --- |\n")
	for _, c := range s.chosen {
		if c.open {
			continue
		}
		l := s.load(&c, server, directory)
		for _, t := range s.toolsFor(&c) {
			if t.name != c.reference() && t.name != assayLoadName {
				continue
			}
			counts := filepath.Join(directory, "calls")
			traced := t
			traced.program, traced.extraTime = "perf", 30*time.Second // perf takes that long to close all tracepoints
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

// perRequest parses perf's counts. It returns the calls per request that are listed, in
// total and of each kind.
func perRequest(counts string, requests int64) (total float64, listed string) {
	var each []string
	for _, m := range regexp.MustCompile(`(?m)^(\d+),,`+tracepoint+`([a-z_0-9]+),`).FindAllStringSubmatch(counts, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n/float64(requests) < minCalls {
			continue
		}
		total += n / float64(requests)
		each = append(each, fmt.Sprintf("%s %.2f", m[2], n/float64(requests)))
	}
	slices.Sort(each)
	return total, strings.Join(each, ", ")
}
