// Command noise measures where the noise of a benchmark is: between processes of a server or within one, in windows of which
// length, and how much of it alternation and the client's own CPU time take out. It needs no cluster. The servers run on one CPU
// and this program, with the driver of assay-load, on another.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: noise [flags]
       noise -compare FILE...

Measures where the noise of a benchmark is, beside nothing and beside a CPU hog. With -compare it measures nothing and
prints the tables of earlier runs taken together, with the noise between them.
`

// run has the metrics of one run of the experiment.
type run struct {
	Date            time.Time
	Commit, Machine string
	// Load is the load average before the run, Steal the seconds that the hypervisor took from all CPUs during it.
	Load, Steal float64
	Cells       []*cell
}

// cell has the metrics of a kind of server beside a hog that uses a share of a CPU.
type cell struct {
	Server string
	Hog    float64
	// Processes has the shortest windows of each process.
	Processes [][]sample
	// Pairs has the slices of pairs, by orders.
	Pairs [][]slices
}

// orders are those in which two servers that are up at once are loaded, in slices of these lengths.
var orders = [3]struct {
	order string
	slice time.Duration
}{{"ABBAABBA", time.Second / 2}, {"ABBA", time.Second}, {"AABB", time.Second}}

// slices are those of A and those of B in the order of time.
type slices [2][]sample

// settings holds the flags.
type settings struct {
	processes, pairs, seconds int
	hogs                      []float64
	serverCPU, clientCPU      int
	divisor                   time.Duration // of slices and of warm-ups
	directory                 string
}

func main() {
	s := settings{divisor: 1}
	var names []string
	for i := range kinds {
		names = append(names, kinds[i].name)
	}
	servers := flag.String("servers", strings.Join(names, ","), "Comma-separated servers. In pairs of time and work one is slower.")
	hogs := flag.String("hog", "0,0.5", "Comma-separated shares of a CPU that a neighbor uses.")
	flag.IntVar(&s.processes, "instances", 4, "Processes of each server, at least 2.")
	flag.IntVar(&s.seconds, "windows", 10, "Seconds of windows of each process.")
	flag.IntVar(&s.pairs, "pairs", 3, "Pairs of neighboring processes of each server.")
	flag.IntVar(&s.serverCPU, "server-cpu", 0, "CPU of the servers.")
	flag.IntVar(&s.clientCPU, "client-cpu", 1, "CPU of the client.")
	short := flag.Bool("short", false, "Take a minute: 2 instances, 1 pair, short slices and warm-ups. It only shows that all works.")
	out := flag.String("out", "", "File to write what was measured to.")
	compare := flag.Bool("compare", false, "Print the tables of the named files.")
	(&harness.Program{Name: "noise", Help: help, Args: "files", Run: func(ctx context.Context, args []string) error {
		for _, text := range strings.Split(*hogs, ",") {
			share, err := strconv.ParseFloat(text, 64)
			if err != nil || share < 0 || share > 1 {
				return fmt.Errorf("-hog: shares must be within 0 and 1: %q", text)
			}
			s.hogs = append(s.hogs, share)
		}
		switch {
		case len(args) == 1 && args[0] == "hog":
			harness.Hog(ctx, s.hogs[0])
			return nil
		case *compare:
			runs, err := read(args)
			if err != nil {
				return err
			}
			fmt.Print(tables(runs))
			return nil
		case *short:
			s.processes, s.seconds, s.pairs, s.divisor = 2, 1, 1, 5
		}
		if s.processes < 2 || s.seconds < 1 || s.pairs < 1 {
			return errors.New("-instances must be at least 2, -windows and -pairs at least 1")
		}
		chosen, err := harness.Choose(*servers, kinds, func(k *kind, name string) bool { return k.name == name })
		if err != nil {
			return fmt.Errorf("-servers: %w", err)
		}
		r, err := s.run(ctx, chosen)
		if err != nil {
			return err
		}
		content, err := json.Marshal(r)
		if err == nil && *out != "" {
			err = os.WriteFile(*out, append(content, '\n'), 0o644)
		}
		fmt.Print(tables([]*run{r}))
		return err
	}}).Main()
}

// run measures kinds of servers.
func (s *settings) run(ctx context.Context, chosen []kind) (*run, error) {
	r, err := describe(ctx)
	if err == nil {
		err = pin(s.clientCPU)
	}
	if err != nil {
		return nil, err
	}
	// httpd serves files as a user of its own, which must be able to read the directory.
	if s.directory, err = os.MkdirTemp("", "noise-"); err == nil {
		defer func() { _ = os.RemoveAll(s.directory) }()
		err = os.Chmod(s.directory, 0o755)
	}
	for i := range chosen {
		if err == nil {
			err = s.measure(ctx, r, &chosen[i])
		}
	}
	if err != nil {
		return nil, err
	}
	after, err := describe(ctx)
	r.Steal = after.Steal - r.Steal
	return r, err
}

// describe returns a run of nothing, with the machine's steal time since its start.
func describe(ctx context.Context) (*run, error) {
	r := &run{Date: time.Now().UTC().Truncate(time.Second)}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return r, err
	}
	load, errLoad := fs.LoadAvg()
	stat, errStat := fs.Stat()
	cpus, errCPUs := fs.CPUInfo()
	kernel, errKernel := exec.CommandContext(ctx, "uname", "-r").Output()
	commit, errCommit := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err := errors.Join(errLoad, errStat, errCPUs, errKernel, errCommit); err != nil {
		return r, err
	}
	r.Commit, r.Load, r.Steal = strings.TrimSpace(string(commit)), load.Load1, stat.CPUTotal.Steal
	r.Machine = fmt.Sprintf("%d CPUs (%s), Linux %s", len(cpus), cpus[0].ModelName, strings.TrimSpace(string(kernel)))
	return r, nil
}

// measure measures a kind of server beside each hog. Neighboring processes are up at once.
func (s *settings) measure(ctx context.Context, r *run, k *kind) error {
	var cells []*cell
	for _, share := range s.hogs {
		cells = append(cells, &cell{Server: k.name, Hog: share})
	}
	r.Cells = append(r.Cells, cells...)
	processes := s.processes
	if k.planted {
		processes = 2
	}
	var before, process *server
	defer func() {
		for _, each := range []*server{before, process} {
			if each != nil {
				each.Stop()
			}
		}
	}()
	for number := range processes {
		fmt.Fprintf(os.Stderr, "%s: process %d of %d\n", k.name, number+1, processes)
		if before != nil {
			before.Stop()
		}
		before, process = process, nil
		var err error
		if process, err = s.start(ctx, k, number); err != nil {
			return err
		}
		for _, c := range cells {
			if err := s.beside(ctx, c.Hog, func() error { return s.fill(ctx, c, k, [2]*server{before, process}, number, processes-1) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill adds to a cell the windows of a process, and its share of the pairs with the one before.
func (s *settings) fill(ctx context.Context, c *cell, k *kind, servers [2]*server, number, neighbors int) error {
	if !k.planted {
		// The first window opens the connections. Others make up for those of a client that came late.
		_, windows, err := drive(ctx, servers[1], time.Duration(s.seconds)*time.Second+4*resolution)
		if err != nil {
			return err
		}
		c.Processes = append(c.Processes, windows[1:min(len(windows), 1+s.seconds*int(time.Second/resolution))])
	}
	for i := number - 1; number > 0 && i < s.pairs; i += neighbors {
		// Each pair begins with another order, so that none of them always has the servers that are up the shortest.
		pair := make([]slices, len(orders))
		if k.planted {
			pair = pair[:1]
		}
		for j := range pair {
			at := (i + j) % len(pair)
			o, taken := orders[at], &pair[at]
			for _, letter := range o.order {
				of := (int(letter-'A') + i) % 2 // each second pair begins with B
				slice, _, err := drive(ctx, servers[of], o.slice/s.divisor)
				if err != nil {
					return err
				}
				taken[of] = append(taken[of], slice)
			}
		}
		c.Pairs = append(c.Pairs, pair)
	}
	return nil
}

// beside calls measure while a hog uses a share of a CPU, of whichever is less busy.
func (s *settings) beside(ctx context.Context, share float64, measure func() error) error {
	if share > 0 {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		h, err := harness.Start(ctx, fmt.Sprintf("%d,%d", s.serverCPU, s.clientCPU), program, "-hog", fmt.Sprint(share), "hog")
		if err != nil {
			return err
		}
		defer h.Stop()
	}
	return measure()
}
