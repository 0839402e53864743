package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const mib = 1 << 20

// memoryCases are those in which memory is watched.
var memoryCases = []string{"1k", "1k-1000"}

// memory prints assay-load's resident set over time, at full speed. After the
// first thirtieth of the time, a minute of half an hour, it is to stay the same.
func (s *settings) memory(ctx context.Context, server *server, folder string) error {
	t := own(s.cache)
	for _, c := range s.named() {
		if !slices.Contains(memoryCases, c.name) {
			continue
		}
		l := &load{url: server.url(1, false), connections: c.connections, keepAlive: true, duration: s.memoryTime, folder: folder}
		fmt.Printf("\nassay-load, 1 KiB, keep-alive, %d connections, %s\n\n", c.connections, s.memoryTime)
		var settled, least, most, highest int64
		begun := time.Now()
		next := s.memoryTime / 30
		sample, err := measure(ctx, &t, l, s.clientCPU, func(p *process) {
			p.watch(s.memoryTime/600, func(resident, peak int64) {
				after := time.Since(begun)
				highest = peak
				if after < next && settled == 0 || after > s.memoryTime {
					return
				}
				if settled == 0 {
					settled, least, most = resident, resident, resident
				}
				least, most = min(least, resident), max(most, resident)
				if after >= next {
					fmt.Printf("  %8s  %5.1f MiB\n", after.Round(time.Second), float64(resident)/mib)
					next += s.memoryTime / 10
				}
			})
		})
		if err != nil {
			return err
		}
		fmt.Printf("\n%.0f requests/s. After the first %s: %+.1f %% to %+.1f %% of what it was then (target: 5). Peak: %.1f MiB (target at 1,000 connections: 64).\n",
			sample.rate(), s.memoryTime/30, 100*float64(least-settled)/float64(settled), 100*float64(most-settled)/float64(settled), float64(highest)/mib)
	}
	return nil
}
