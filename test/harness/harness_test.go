package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestExitCodes(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		args []string
		err  error
		want int
	}{
		"as expected":      {t.Context(), nil, nil, 0},
		"missed":           {t.Context(), nil, fmt.Errorf("2 files: %w", ErrMissed), 1},
		"not tried":        {t.Context(), nil, errors.New("no cluster"), 2},
		"unknown argument": {t.Context(), []string{"x"}, nil, 2},
		"interrupted":      {interrupted, nil, ErrMissed, 130},
	} {
		p := &Program{Name: "test", Run: func(context.Context, []string) error { return test.err }}
		if got := p.run(test.ctx, test.args); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	p := &Program{Name: "test", Args: "cases", Run: func(_ context.Context, args []string) error {
		if !slices.Equal(args, []string{"x"}) {
			t.Errorf("arguments %q", args)
		}
		return nil
	}}
	if got := p.run(t.Context(), []string{"x"}); got != 0 {
		t.Errorf("with an argument: %d", got)
	}
}

func TestChoose(t *testing.T) {
	all := []string{"a", "ab", "b"}
	starts := func(s *string, name string) bool { return (*s)[:1] == name || *s == name }
	for list, want := range map[string][]string{"": all, " ,": all, "b": {"b"}, "b, a": {"b", "a", "ab"}, "ab a": {"ab", "a"}} {
		if got, err := Choose(list, all, starts); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
	if _, err := Choose("a,c", all, starts); err == nil {
		t.Error("c is no name")
	}
}

func TestChecks(t *testing.T) {
	var c Checks
	AtMost(&c, "start", time.Second, time.Second, time.Duration.String)
	c.Value("memory", "8 MiB")
	if err := c.Err(); err != nil {
		t.Error(err)
	}
	c.Add("skew", "6ms", "≤ 5ms", false)
	if err := c.Err(); !errors.Is(err, ErrMissed) {
		t.Error(err)
	}
	want := `|        | measured | bound |        |
| ---    | ---      | ---   | ---    |
| start  | 1s       | ≤ 1s  | ok     |
| memory | 8 MiB    |       |        |
| skew   | 6ms      | ≤ 5ms | MISSED |
`
	if got := c.Table(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMedian(t *testing.T) {
	if Median([]float64{3, 1, 2}) != 2 || Median([]int64{4, 1, 2, 3}) != 2 || Median([]float64{1, 2}) != 1.5 {
		t.Error("medians")
	}
}
