package main

import (
	"slices"
	"testing"
)

func TestReadIssuers(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "Issuer/*": {"Issuer/*"}, "Issuer/a,StepIssuer.step.example/b": {"Issuer/a", "StepIssuer.step.example/b"},
	} {
		if got, err := readIssuers(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"a", "/a", "Issuer/", "Issuer/a,"} {
		if _, err := readIssuers(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestReadSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "16Gi": 16 << 30, "1.5Mi": 3 << 19, "1": 1} {
		if got, err := readSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "many"} {
		if _, err := readSize(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
