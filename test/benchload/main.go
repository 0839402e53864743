// Command benchload measures what a request costs a load generator: the CPU time
// of its process by requests, side by side for assay-load and the tools that
// people know, in one session of interleaved runs. The server is an nginx of its
// own on one CPU, the tools run on another, over loopback.
//
//	benchload          all cases
//	benchload -quick   one short round of each
//	benchload memory   the client's memory over time
//
// It only runs programs: of assay-load and k6 it imports nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	rounds               int
	duration             time.Duration
	cases, tools         string
	cache                string
	serverCPU, clientCPU int
}

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 5, "Rounds of each case.")
	flag.DurationVar(&s.duration, "duration", 3*time.Second, "Length of each run, in whole seconds.")
	flag.StringVar(&s.cases, "cases", "", "Cases, with commas between them: "+strings.Join(names(), ",")+"; all by default.")
	flag.StringVar(&s.tools, "tools", "", "Tools by the beginning of their names, with commas between them; all by default.")
	flag.StringVar(&s.cache, "cache", os.Getenv("ASSAY_CACHE"), "Folder with built tools.")
	flag.IntVar(&s.serverCPU, "server-cpu", 0, "CPU of the server.")
	flag.IntVar(&s.clientCPU, "client-cpu", 1, "CPU of the tools.")
	quick := flag.Bool("quick", false, "One round of 2 s each: about two minutes.")
	flag.Parse()
	if *quick {
		s.rounds, s.duration = 1, 2*time.Second
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &s, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchload:", err)
		os.Exit(1)
	}
}

func names() []string {
	var all []string
	for _, c := range cases {
		all = append(all, c.name)
	}
	return all
}

func run(ctx context.Context, s *settings, args []string) error {
	if s.duration < time.Second || s.rounds < 1 || max(s.serverCPU, s.clientCPU) >= runtime.NumCPU() {
		return errors.New("give at least one round of one second, and CPUs that there are")
	}
	folder, err := os.MkdirTemp("", "benchload-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	server, err := startServer(ctx, folder, s.serverCPU)
	if err != nil {
		return err
	}
	defer server.stop()
	fmt.Printf("%s, %s on CPU %d, tools on CPU %d of %d, rounds of %s\n", time.Now().UTC().Format(time.DateTime),
		strings.TrimSpace(server.description), s.serverCPU, s.clientCPU, runtime.NumCPU(), s.duration)
	switch {
	case len(args) == 1 && args[0] == "memory":
		return s.memory(ctx, server, folder)
	case len(args) > 0:
		return fmt.Errorf("there is nothing named %q: give memory or nothing", args)
	}
	chosen := strings.Split(s.cases, ",")
	for _, c := range cases {
		if s.cases != "" && !slices.Contains(chosen, c.name) {
			continue
		}
		if err := s.compare(ctx, server, folder, &c); err != nil {
			return err
		}
	}
	return nil
}

// compare runs all tools in turn, round by round, and prints their table.
func (s *settings) compare(ctx context.Context, server *server, folder string, c *benchCase) error {
	chosen := toolsFor(c, s.chosen(), s.cache)
	rows := make([]row, len(chosen))
	l := &load{url: server.url(c.kib, c.tls), connections: c.connections, keepAlive: c.keepAlive, rate: c.rate, duration: s.duration, folder: folder}
	if l.streams = c.streams; c.streams > 0 {
		l.url = fmt.Sprintf("https://%s/%dk", server.http2, c.kib)
	}
	for round := range s.rounds {
		for i := range chosen {
			r := &rows[i]
			r.tool = chosen[i].name
			fmt.Fprintf(os.Stderr, "%s, round %d of %d: %s\n", c.name, round+1, s.rounds, r.tool)
			sample, err := measure(ctx, &chosen[i], l, s.clientCPU, 50*time.Millisecond)
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

func (s *settings) chosen() []tool {
	all := tools(s.cache)
	if s.tools == "" {
		return all
	}
	var chosen []tool
	for _, t := range all {
		if slices.ContainsFunc(strings.Split(s.tools, ","), func(name string) bool { return strings.HasPrefix(t.name, name) }) {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// memory prints assay-load's resident set over time, at full speed.
func (s *settings) memory(ctx context.Context, server *server, folder string) error {
	const points = 10
	for _, connections := range []int{25, 1000} {
		duration := 10 * s.duration
		l := &load{url: server.url(1, false), connections: connections, keepAlive: true, duration: duration, folder: folder}
		for _, t := range tools(s.cache) {
			if t.name != "assay-load" {
				continue
			}
			sample, err := measure(ctx, &t, l, s.clientCPU, duration/100)
			if err != nil {
				return err
			}
			fmt.Printf("\nassay-load, 1 KiB, keep-alive, %d connections, %s, %.0f requests/s: peak %.1f MiB (target: below 64)\n",
				connections, duration, sample.rate(), float64(sample.peak)/(1<<20))
			settled := sample.resident[len(sample.resident)/10:] // the first tenth is the start
			for i := 0; i < len(settled); i += max(1, len(settled)/points) {
				fmt.Printf("  %5.1f s  %5.1f MiB\n", (duration / 100 * time.Duration(i+len(sample.resident)/10)).Seconds(), float64(settled[i])/(1<<20))
			}
			least, most := slices.Min(settled), slices.Max(settled)
			fmt.Printf("after the first tenth: %.1f to %.1f MiB, %.1f %% (target: 5)\n",
				float64(least)/(1<<20), float64(most)/(1<<20), 100*float64(most-least)/float64(least))
		}
	}
	return nil
}
