package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

const readInterval = 20 * time.Millisecond

// repeatedReader reads values again and again, in the background.
type repeatedReader struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	all    []stamped
}

// begin reads until ctx ends. It leaves out what can't be read: the target is gone then.
func (r *repeatedReader) begin(ctx context.Context, read func() ([]float64, error)) {
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Go(func() {
		for ctx.Err() == nil {
			at := time.Now().UnixMicro()
			if values, err := read(); err == nil {
				r.all = append(r.all, stamped{at, values})
			}
			harness.Sleep(ctx, readInterval)
		}
	})
}

func (r *repeatedReader) at(microseconds int64) []float64 { return valuesAt(r.all, microseconds) }

func (r *repeatedReader) stop() { stop(r.cancel, &r.done) }

// counterReader reads counters of TcpExt in the network namespace of a run's target.
type counterReader struct {
	repeatedReader
	names []string
}

// disturb reads from the start of the target on.
func (r *counterReader) disturb(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
	pid, err := process(ctx, c, run, harness.TargetLabels, "server")
	if err != nil {
		return err
	}
	file := filepath.Join("/proc", strconv.Itoa(pid), "net/netstat")
	if _, err := readTCPExt(file, r.names); err != nil {
		return err
	}
	r.begin(ctx, func() ([]float64, error) { return readTCPExt(file, r.names) })
	return nil
}

// readTCPExt returns counters of TcpExt: a line of names is followed by one of values.
func readTCPExt(file string, names []string) ([]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var known []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "TcpExt:" {
			continue
		}
		if known == nil {
			known = fields
			continue
		}
		var values []float64
		for _, name := range names {
			for i := range known {
				if known[i] != name || i >= len(fields) {
					continue
				}
				value, err := strconv.ParseFloat(fields[i], 64)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", file, name, err)
				}
				values = append(values, value)
			}
		}
		if len(values) == len(names) {
			return values, nil
		}
	}
	return nil, fmt.Errorf("%s lacks %v", file, names)
}
