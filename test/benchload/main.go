// Command benchload measures what a request costs a load generator: the CPU time of its
// process divided by the number of requests. It compares assay-load with well-known tools
// in one session of interleaved runs. The server is an nginx that it starts on one CPU.
// The tools run on another CPU, over loopback.
//
// It only runs assay-load and k6 as programs and imports nothing of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: benchload [flags] [memory]

Measures what a request costs a load generator: the CPU time of its process divided by the number of
requests, for assay-load and well-known tools in one session of interleaved runs.

Examples:
  benchload          all cases
  benchload -quick   one short round of each
  benchload memory   the client's memory over time
`

// settings holds the flags.
type settings struct {
	rounds               int
	duration, memoryTime time.Duration
	cases, tools         string
	cache, against       string
	groups               string
	serverCPU, clientCPU int
	chosen               []benchCase
}

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 5, "Rounds of each case.")
	flag.DurationVar(&s.duration, "duration", 3*time.Second, "Length of each run, in whole seconds.")
	flag.DurationVar(&s.memoryTime, "memory-time", 30*time.Minute, "Duration of the memory measurement in each of the cases "+strings.Join(memoryCases, " and ")+".")
	flag.StringVar(&s.cases, "cases", "", "Comma-separated cases: "+strings.Join(caseNames(), ",")+"; all by default.")
	flag.StringVar(&s.tools, "tools", "", "Comma-separated prefixes of tools' names; all by default.")
	flag.StringVar(&s.cache, "cache", os.Getenv("ASSAY_CACHE"), "Directory with built tools.")
	flag.StringVar(&s.against, "against", "", "Another build of assay-load to compare with, for example of an earlier commit.")
	flag.StringVar(&s.groups, "groups", "", "Groups for the key exchange of TLS that assay-load and h2load offer, such as P-256, instead of their defaults; wrk can't limit them.")
	flag.IntVar(&s.serverCPU, "server-cpu", 0, "CPU of the server.")
	flag.IntVar(&s.clientCPU, "client-cpu", 1, "CPU of the tools.")
	quick := flag.Bool("quick", false, "One round of 2 s each: about two minutes.")
	(&harness.Program{Name: "benchload", Help: help, Args: "what to measure", Run: func(ctx context.Context, args []string) error {
		if *quick {
			s.rounds, s.duration = 1, 2*time.Second
		}
		return run(ctx, &s, args)
	}}).Main()
}

func caseNames() []string {
	var all []string
	for _, c := range cases {
		all = append(all, c.name)
	}
	return all
}

func run(ctx context.Context, s *settings, args []string) error {
	if s.duration < time.Second || s.rounds < 1 || max(s.serverCPU, s.clientCPU) >= runtime.NumCPU() {
		return errors.New("-rounds must be at least 1, -duration at least 1s, and -server-cpu and -client-cpu numbers of existing CPUs")
	}
	var err error
	if s.chosen, err = harness.Choose(s.cases, cases, func(c *benchCase, name string) bool { return c.name == name }); err != nil {
		return fmt.Errorf("-cases: %w", err)
	}
	directory, err := os.MkdirTemp("", "benchload-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	server, err := startServer(ctx, directory, s.serverCPU)
	if err != nil {
		return err
	}
	defer server.process.Stop()
	fmt.Printf("%s, %s on CPU %d, tools on CPU %d of %d, rounds of %s\n", time.Now().UTC().Format(time.DateTime),
		strings.TrimSpace(server.description), s.serverCPU, s.clientCPU, runtime.NumCPU(), s.duration)
	switch strings.Join(args, " ") {
	case "":
		for _, c := range s.chosen {
			if err := s.compare(ctx, server, directory, &c); err != nil {
				return err
			}
		}
		return nil
	case "memory":
		return s.memory(ctx, server, directory)
	}
	return fmt.Errorf("unknown argument %q: use memory or none", strings.Join(args, " "))
}

// compare runs all tools in turn, round by round, and prints their table.
func (s *settings) compare(ctx context.Context, server *server, directory string, c *benchCase) error {
	chosen := s.toolsFor(c)
	rows := make([]row, len(chosen))
	if c.open && c.rate == 0 {
		var err error
		if c.rate, err = s.halfSaturation(ctx, server, directory, c); err != nil {
			return err
		}
	}
	l := s.load(c, server, directory)
	for round := range s.rounds {
		for i := range chosen {
			r := &rows[i]
			r.tool = chosen[i].name
			fmt.Fprintf(os.Stderr, "%s, round %d of %d: %s\n", c.name, round+1, s.rounds, r.tool)
			sample, err := measure(ctx, &chosen[i], l, s.clientCPU, func(p *process) { p.watchPeak(50 * time.Millisecond) })
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			if err != nil {
				r.skipped = err.Error()
				if !errors.Is(err, errSkipped) {
					fmt.Fprintf(os.Stderr, "  %v\n", err)
					r.skipped = "failed"
				}
			} else if r.tool == reference {
				l.expected = sample.requests
			}
			r.samples = append(r.samples, sample)
		}
	}
	writeCase(os.Stdout, c, rows)
	return nil
}

// toolsFor returns the tools for a case that the flag selects.
func (s *settings) toolsFor(c *benchCase) []tool {
	prefixes := strings.Split(s.tools, ",")
	all := tools(s.cache)
	if s.against != "" {
		other := assayLoadTool(s.cache)
		other.name, other.program = assayLoadName+", other build", s.against
		all = slices.Insert(all, slices.IndexFunc(all, func(t tool) bool { return t.name == assayLoadName }), other)
	}
	return slices.DeleteFunc(all, func(t tool) bool {
		chosen := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(t.name, prefix) })
		return !chosen || c.streams > 0 && !t.http2 || c.streams == 0 && !t.http1
	})
}

// load returns the load of a case.
func (s *settings) load(c *benchCase, server *server, directory string) *load {
	l := &load{
		url: server.url(c.kib, c.tls), connections: c.connections, keepAlive: c.keepAlive, streams: c.streams, rate: c.rate,
		duration: s.duration, directory: directory, groups: s.groups,
	}
	if c.streams > 0 {
		l.url = fmt.Sprintf("https://%s/%dk", server.http2, c.kib)
	}
	return l
}

// halfSaturation returns half of the rate at which assay-load saturates this machine in a case.
func (s *settings) halfSaturation(ctx context.Context, server *server, directory string, c *benchCase) (int, error) {
	l := s.load(c, server, directory)
	l.connections, l.rate = saturatingConnections, 0
	t := assayLoadTool(s.cache)
	sample, err := measure(ctx, &t, l, s.clientCPU, nil)
	if err != nil {
		return 0, fmt.Errorf("find the rate at which %s saturates: %w", t.name, err)
	}
	return int(sample.rate()) / 2, nil
}
