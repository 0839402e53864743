package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const mib = 1 << 20

// memoryCases are the cases in which memory is measured.
var memoryCases = []string{"1k", "1k-1000"}

// memory prints assay-load's RSS over time, at full speed. It must not change after the
// first thirtieth of the time, which is a minute of half an hour.
func (s *settings) memory(ctx context.Context, server *server, directory string) error {
	t := assayLoadTool(s.cache)
	for _, c := range s.chosen {
		if !slices.Contains(memoryCases, c.name) {
			continue
		}
		l := &load{url: server.url(1, false), connections: c.connections, keepAlive: true, duration: s.memoryTime, directory: directory}
		fmt.Printf("\nassay-load, 1 KiB, keep-alive, %d connections, %s\n\n", c.connections, s.memoryTime)
		var baseline, minimum, maximum, highestPeak int64
		start := time.Now()
		next := s.memoryTime / 30
		sample, err := measure(ctx, &t, l, s.clientCPU, func(p *process) {
			p.watch(s.memoryTime/600, func(resident, peak int64) {
				after := time.Since(start)
				highestPeak = peak
				if after < next && baseline == 0 || after > s.memoryTime {
					return
				}
				if baseline == 0 {
					baseline, minimum, maximum = resident, resident, resident
				}
				minimum, maximum = min(minimum, resident), max(maximum, resident)
				if after >= next {
					fmt.Printf("  %8s  %5.1f MiB\n", after.Round(time.Second), float64(resident)/mib)
					next += s.memoryTime / 10
				}
			})
		})
		if err != nil {
			return err
		}
		fmt.Printf("\n%.0f requests/s. Change since the first %s: %+.1f%% to %+.1f%% (bound: 5%%). Peak: %.1f MiB (bound at 1,000 connections: 64 MiB).\n",
			sample.rate(), s.memoryTime/30, 100*float64(minimum-baseline)/float64(baseline), 100*float64(maximum-baseline)/float64(baseline), float64(highestPeak)/mib)
	}
	return nil
}
