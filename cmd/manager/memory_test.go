package main

import (
	"runtime/debug"
	"testing"
	"testing/synctest"
)

func TestMemoryLimit(t *testing.T) {
	for _, test := range []struct {
		limit, gomemlimit string
		want              int64
	}{
		{"536870912", "", 402653184}, {"", "", 0}, {"512Mi", "", 0}, {"-1", "", 0}, {"536870912", "100MiB", 0}, {"9223372036854775807", "", 9223372036854775807 / 4 * 3},
	} {
		env := map[string]string{memoryLimitVariable: test.limit, "GOMEMLIMIT": test.gomemlimit}
		if got := memoryLimit(func(name string) string { return env[name] }); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestAStartedManagerCollectsOften(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(startGCPercent))
	synctest.Test(t, func(t *testing.T) {
		if err := collectOften(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if got := debug.SetGCPercent(gcPercent); got != gcPercent {
		t.Errorf("the heap grows by %d%%", got)
	}
}
