package benchmark_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/benchmark"
)

func TestRunName(t *testing.T) {
	long := strings.Repeat("n", 34)
	for _, c := range []struct {
		benchmark string
		key       benchmark.RunKey
		want      string
	}{
		{"connectors", benchmark.RunKey{Round: 1}, "connectors-r1-c000-b00"},
		{"connectors", benchmark.RunKey{Round: 12, Cell: 255, Number: 99, Replacement: 3}, "connectors-r12-c255-b99-i3"},
		{"connectors", benchmark.RunKey{Round: 3, Cell: 7, Trial: true, Number: 24}, "connectors-r3-c007-t24"},
		{"connectors", benchmark.RunKey{Round: 3, Cell: 7, Trial: true, Number: 24, Replacement: 1}, "connectors-r3-c007-t24-i1"},
		{"a-r1-c000-b00", benchmark.RunKey{Round: 2}, "a-r1-c000-b00-r2-c000-b00"},
		{long, benchmark.RunKey{Round: 999, Cell: 255, Number: 99, Replacement: 99}, long + "-r999-c255-b99-i99"},
		{long, benchmark.RunKey{Round: 1000, Cell: 255, Number: 99, Replacement: 99}, long[:27] + "cf103f-r1000-c255-b99-i99"},
		{long, benchmark.RunKey{Round: 1000}, long[:27] + "cf103f-r1000-c000-b00"},
		{long, benchmark.RunKey{Round: 1e17, Number: 99, Replacement: 99}, long[:13] + "cf103f-r100000000000000000-c000-b99-i99"},
	} {
		got := c.key.Name(c.benchmark)
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.key, got, c.want)
		}
		if len(got) > 52 {
			t.Errorf("%s has %d characters", got, len(got))
		}
		if parsed, ok := benchmark.ParseRunName(c.benchmark, got); !ok || parsed != c.key {
			t.Errorf("%s was parsed as %+v, %t", got, parsed, ok)
		}
	}
}

func TestForeignRunNames(t *testing.T) {
	for _, name := range []string{
		"", "connectors", "connectors-r1-c000-b00-x", "connectors-r1-c0-b0", "connectors-r1-c000-x00",
		"connectors-r01-c000-b00", "connectors-r1-c000-b00-i0", "connectors-r1-c000-b00-i01",
		"other-r1-c000-b00", "my-connectors-r1-c000-b00", "-r1-c000-b00", "connectors-r99999999999999999999-c000-b00",
	} {
		if key, ok := benchmark.ParseRunName("connectors", name); ok {
			t.Errorf("%q was parsed as %+v", name, key)
		}
	}
}
