package main

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestElectionCheck(t *testing.T) {
	for flags, want := range map[string]string{
		"": "",
		"--leader-elect-lease-duration=60s --leader-elect-renew-deadline=40s --leader-elect-retry-period=5s": "",
		"--leader-elect-lease-duration=5s":                       "--leader-elect-lease-duration is 5s",
		"--leader-elect-lease-duration=7s":                       "--leader-elect-lease-duration is 7s",
		"--leader-elect-retry-period=6s":                         "--leader-elect-renew-deadline is 7s",
		"--leader-elect-retry-period=0":                          "--leader-elect-renew-deadline is 7s",
		"--leader-elect-lease-name=":                             "--leader-elect-lease-name",
		"--leader-elect=false --leader-elect-lease-duration=1ns": "",
	} {
		set := flag.NewFlagSet("manager", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		e := &election{}
		e.bind(set)
		if err := set.Parse(strings.Fields(flags)); err != nil {
			t.Fatal(err)
		}
		err := e.check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", flags, err, want)
		}
	}
}
