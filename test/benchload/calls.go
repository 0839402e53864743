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
)

// fewest is how many calls of a kind a request must have on average to be listed:
// the rest is the tool's start, and what the language's runtime does by time.
const fewest = 0.03

// calls prints the system calls of a request: they are the floor under what it
// can cost. strace slows all of it down, so that nothing else is measured.
func (s *settings) calls(ctx context.Context, server *server, folder string) error {
	if _, err := exec.LookPath("strace"); err != nil {
		return fmt.Errorf("strace isn't there; make bench-deps installs it: %w", err)
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
			traced.program = "strace"
			traced.arguments = func(l *load) ([]string, error) {
				args, err := t.arguments(l)
				return append([]string{"-f", "-c", "-U", "calls,name", "-o", counts, t.program}, args...), err
			}
			sample, err := measure(ctx, &traced, l, s.clientCPU, nil)
			if err != nil {
				return fmt.Errorf("%s under strace: %w", t.name, err)
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

// perRequest reads strace's counts: what a request has of those listed, in all and
// each.
func perRequest(counts string, requests int64) (total float64, listed string) {
	var each []string
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+) +([a-z_0-9]+)$`).FindAllStringSubmatch(counts, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || m[2] == "total" || n/float64(requests) < fewest {
			continue
		}
		total += n / float64(requests)
		each = append(each, fmt.Sprintf("%s %.2f", m[2], n/float64(requests)))
	}
	slices.Sort(each)
	return total, strings.Join(each, ", ")
}
