package loadplan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// The variables of a script's environment that hold credentials of its outputs.
const (
	VariableRemoteWriteUser     = "K6_PROMETHEUS_RW_USERNAME"
	VariableRemoteWritePassword = "K6_PROMETHEUS_RW_PASSWORD"
	VariableRemoteWriteToken    = "K6_PROMETHEUS_RW_BEARER_TOKEN"
	VariableTelemetryHeaders    = "K6_OTEL_HEADERS"
)

// script returns a client's part of a script: an execution segment. Together they do the whole, whose segments sequence has.
func script(run *v1alpha1.BenchmarkRun, index, clients int, sequence string) *session.Script {
	s := run.Spec.Script
	planned := &session.Script{
		File:             s.File,
		Segment:          fraction(index, clients) + ":" + fraction(index+1, clients),
		Sequence:         sequence,
		Leads:            index == session.ScriptLeader,
		MergedThresholds: true,
		Tags:             map[string]string{},
		HostNames:        s.HostNames,
	}
	for _, tag := range s.Tags {
		planned.Tags[tag.Name] = tag.Value
	}
	for _, v := range s.Env {
		if v.SecretKeyRef != nil {
			planned.Secrets = append(planned.Secrets, v.Name)
		}
	}
	if s.Outputs == nil {
		return planned
	}
	planned.Tags["assay_run"], planned.Tags["assay_client"] = run.Name, strconv.Itoa(index)
	if s.Outputs.PrometheusRemoteWrite != nil {
		planned.Outputs = append(planned.Outputs, "experimental-prometheus-rw")
		planned.Secrets = append(planned.Secrets, VariableRemoteWritePassword, VariableRemoteWriteToken)
	}
	if s.Outputs.OpenTelemetry != nil {
		planned.Outputs = append(planned.Outputs, "opentelemetry")
		planned.Secrets = append(planned.Secrets, VariableTelemetryHeaders)
	}
	return planned
}

// fraction is i/n as k6 writes a bound of an execution segment.
func fraction(i, n int) string {
	switch i {
	case 0:
		return "0"
	case n:
		return "1"
	}
	return fmt.Sprintf("%d/%d", i, n)
}

func sequence(n int) string {
	bounds := make([]string, 0, n+1)
	for i := range n + 1 {
		bounds = append(bounds, fraction(i, n))
	}
	return strings.Join(bounds, ",")
}
