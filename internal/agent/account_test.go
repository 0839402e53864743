package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

// TestAccount checks that each process is counted once, however it exits.
func TestAccount(t *testing.T) {
	stat := func(pid, parent int, started uint64, own uint, children int) procfs.ProcStat {
		return procfs.ProcStat{PID: pid, PPID: parent, Starttime: started, UTime: own, CUTime: children}
	}
	server := func(own uint, children int) procfs.ProcStat { return stat(10, 1, 1, own, children) }
	tests := map[string]struct {
		samples [][]procfs.ProcStat
		want    []int64 // ticks after each
	}{
		"one process":                       {[][]procfs.ProcStat{{server(5, 0)}, {server(7, 0)}}, []int64{5, 7}},
		"children waited for before":        {[][]procfs.ProcStat{{server(5, 100)}}, []int64{105}},
		"a worker that is waited for":       {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0)}, {server(5, 60)}}, []int64{55, 65}},
		"a worker that nobody waits for":    {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0)}, {server(6, 0)}, {server(7, 0)}}, []int64{55, 56, 57}},
		"one of each":                       {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0), stat(12, 1, 2, 30, 0)}, {server(5, 50)}}, []int64{85, 85}},
		"a worker's worker, waited for":     {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0), stat(12, 11, 3, 20, 0)}, {server(5, 75)}}, []int64{75, 80}},
		"its number is used again":          {[][]procfs.ProcStat{{server(5, 0), stat(11, 1, 2, 50, 0)}, {server(5, 0), stat(11, 1, 9, 1, 0)}}, []int64{55, 56}},
		"all end":                           {[][]procfs.ProcStat{{server(5, 3), stat(11, 10, 2, 50, 0)}, {}}, []int64{58, 58}},
		"a worker that came and was reaped": {[][]procfs.ProcStat{{server(5, 0)}, {server(5, 9)}}, []int64{5, 14}},
		"two workers, one waited for":       {[][]procfs.ProcStat{{server(0, 0), stat(11, 10, 2, 50, 0), stat(12, 10, 2, 50, 0)}, {server(0, 50)}}, []int64{100, 100}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var a account
			var c container
			var got []int64
			for _, sample := range test.samples {
				var all []processSample
				for _, stat := range sample {
					all = append(all, processSample{ProcStat: stat, in: &c})
				}
				a.update(all)
				var u result.ServerUsage
				c.report(&u)
				got = append(got, u.UserCPU/tick)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAccountOfContainers checks that usage counts once, for the container of the
// process at that time, however the process exits.
func TestAccountOfContainers(t *testing.T) {
	// The container, PID and parent of a process, its own ticks and those of its
	// children.
	type in struct {
		container, pid, parent, own, children int
	}
	tests := map[string]struct {
		samples [][]in
		want    [][2]int64 // ticks of the containers 0 and 1 after each
	}{
		"apart from the start": {
			[][]in{{{0, 10, 0, 5, 0}, {1, 20, 0, 50, 0}}, {{0, 10, 0, 6, 0}, {1, 20, 0, 70, 0}}},
			[][2]int64{{5, 50}, {6, 70}},
		},
		"told apart later": {
			[][]in{{{0, 10, 0, 5, 0}, {0, 20, 0, 50, 0}}, {{0, 10, 0, 6, 0}, {1, 20, 0, 70, 0}}, {{0, 10, 0, 6, 0}, {1, 20, 0, 75, 0}}},
			[][2]int64{{55, 0}, {56, 20}, {56, 25}},
		},
		"told apart and back": {
			[][]in{{{0, 20, 0, 50, 0}}, {{1, 20, 0, 60, 0}}, {{0, 20, 0, 75, 0}}},
			[][2]int64{{50, 0}, {50, 10}, {65, 10}},
		},
		"a worker is waited for as they are told apart": {
			[][]in{{{0, 20, 0, 5, 0}, {0, 21, 20, 50, 0}}, {{1, 20, 0, 6, 53}}},
			[][2]int64{{55, 0}, {55, 4}},
		},
		"a worker is gone as they are told apart": {
			[][]in{{{0, 20, 0, 5, 0}, {0, 21, 20, 50, 0}}, {{1, 20, 0, 6, 0}}},
			[][2]int64{{55, 0}, {55, 1}},
		},
		"workers of both": {
			[][]in{{{0, 10, 0, 1, 0}, {0, 11, 10, 20, 0}, {1, 20, 0, 5, 0}, {1, 21, 20, 50, 0}}, {{0, 10, 0, 1, 22}, {1, 20, 0, 5, 50}}},
			[][2]int64{{21, 55}, {23, 55}},
		},
		"a container ends": {
			[][]in{{{0, 10, 0, 1, 0}, {1, 20, 0, 5, 0}}, {{0, 10, 0, 3, 0}}, {{0, 10, 0, 4, 0}}},
			[][2]int64{{1, 5}, {3, 5}, {4, 5}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var a account
			var both [2]container
			var got [][2]int64
			for _, sample := range test.samples {
				var all []processSample
				for _, p := range sample {
					stat := procfs.ProcStat{PID: p.pid, PPID: p.parent, UTime: uint(p.own), CUTime: p.children}
					all = append(all, processSample{ProcStat: stat, in: &both[p.container]})
				}
				a.update(all)
				got = append(got, [2]int64{both[0].used.user / tick, both[1].used.user / tick})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
