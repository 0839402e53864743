package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// beside puts the first clients on the target's node.
func beside(r *result.Result, clients int) {
	for i := range clients {
		r.Clients[i].Node = r.Environment.TargetNode
	}
}

func TestSharedNode(t *testing.T) {
	for name, tc := range map[string]struct {
		clients   int
		placement string
		severity  result.Severity
		says      string
	}{
		"on other nodes":                {0, "Prefer", "", ""},
		"on other nodes, as required":   {0, validity.PlacementApart, "", ""},
		"all on one node":               {2, "Prefer", result.Warns, "2 of 2 clients ran on the target's node node-1."},
		"some on one node":              {1, "", result.Warns, "1 of 2 clients ran on the target's node node-1."},
		"although it was ruled out":     {1, validity.PlacementApart, result.Invalidates, "1 of 2 clients ran on the target's node node-1. But spec.clients.placement is Apart."},
		"as the run asks for":           {2, validity.PlacementTogether, result.Accepted, "2 of 2 clients ran on the target's node node-1. The run asks for it"},
		"elsewhere, against the demand": {0, validity.PlacementTogether, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			beside(r, tc.clients)
			got := find(r, validity.ReasonSharedNode, validity.Declared{Placement: tc.placement})
			if got.Severity != tc.severity || !strings.HasPrefix(got.Message, tc.says) {
				t.Errorf("found %s %q, want %s %q", got.Severity, got.Message, tc.severity, tc.says)
			}
		})
	}
	external := sound()
	external.Environment.TargetNode = ""
	external.Clients[0].Node = ""
	if got := find(external, validity.ReasonSharedNode, validity.Declared{}); got.Reason != "" {
		t.Errorf("with an unknown node: %q", got.Message)
	}
}

// TestSharedNodeIsTheLastWarning: on a cluster with one node it is in every result.
func TestSharedNodeIsTheLastWarning(t *testing.T) {
	r := sound()
	beside(r, 2)
	r.Warmup, r.Server = nil, nil
	r.Clients[0].Latencies.Of(result.Total).Record(3 * result.HighestMicroseconds)
	merged(r)
	findings := validity.Judge(r, validity.Declared{})
	if last := findings[len(findings)-1]; len(findings) < 4 || last.Reason != validity.ReasonSharedNode {
		t.Errorf("the last of %d findings is %s", len(findings), last.Reason)
	}
}

func TestSharedCore(t *testing.T) {
	tests := map[string]struct {
		change func(*result.Result)
		says   string
	}{
		"a client on the other thread": {func(r *result.Result) { r.Clients[1].CPUs = "5" },
			"1 of 2 clients (first: client 1 on CPUs 5) could run on threads of the target's cores (server on CPUs 1, whose cores have the CPUs 1,5)."},
		"clients that may use it": {func(r *result.Result) { r.Clients[0].CPUs, r.Clients[1].CPUs = "0,2-7", "0,2-7" },
			"2 of 2 clients (first: client 0 on CPUs 0,2-7) could run"},
		"clients on other cores":        {func(r *result.Result) { r.Clients[0].CPUs, r.Clients[1].CPUs = "2", "4,6-7" }, ""},
		"cores with a thread each":      {func(r *result.Result) { r.Environment.TargetCores, r.Clients[0].CPUs = "1", "0,2-7" }, ""},
		"a target with whole cores":     {func(r *result.Result) { r.Environment.TargetCPUs, r.Clients[0].CPUs = "1,5", "0,2-4,6-7" }, ""},
		"unknown cores":                 {func(r *result.Result) { r.Environment.TargetCores, r.Clients[0].CPUs = "", "5" }, ""},
		"cores that can't be read":      {func(r *result.Result) { r.Environment.TargetCores, r.Clients[0].CPUs = "1,1-9", "5" }, ""},
		"unknown CPUs of clients":       {func(*result.Result) {}, ""},
		"clients on another node":       {func(r *result.Result) { r.Clients[0].CPUs, r.Clients[0].Node = "5", "node-2" }, ""},
		"a target with shared CPUs":     {func(r *result.Result) { r.Clients[0].CPUs, r.Environment.CPUExclusivity = "5", "Shared" }, ""},
		"a target of unknown exclusion": {func(r *result.Result) { r.Clients[0].CPUs, r.Environment.CPUExclusivity = "5", "Unknown" }, ""},
		"a backend": {func(r *result.Result) {
			r.Environment.TargetCores = "1"
			r.Environment.Backends = []result.BackendEnvironment{
				{Name: "cache", CPUs: "2", CPUExclusivity: "Exclusive", Cores: "2,6"}, {Name: "tomcat", CPUs: "3", CPUExclusivity: "Exclusive", Cores: "3,7"},
			}
			r.Clients[0].CPUs, r.Clients[1].CPUs = "0", "7"
		}, "1 of 2 clients (first: client 1 on CPUs 7) could run on threads of the target's cores (tomcat on CPUs 3, whose cores have the CPUs 3,7)."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := sound()
			beside(r, 2)
			r.Environment.TargetCores = "1,5"
			tc.change(r)
			got := find(r, validity.ReasonSharedCore, validity.Declared{})
			if (got.Severity == result.Warns) != (tc.says != "") || !strings.HasPrefix(got.Message, tc.says) {
				t.Errorf("found %s %q, want %q", got.Severity, got.Message, tc.says)
			}
		})
	}
}
