package main

import "testing"

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"": true, "0": true, "127.0.0.1:6060": true, "[::1]:6060": true,
		":6060": false, "0.0.0.0:6060": false, "[::]:6060": false, "10.0.0.1:6060": false, "localhost:6060": false, "6060": false,
	} {
		if got := loopback(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
