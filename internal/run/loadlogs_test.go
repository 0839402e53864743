package run

import (
	"slices"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestLogsOfTheLoadAreRead checks when the servers' logs are read for what they say about the load, and since when.
func TestLogsOfTheLoadAreRead(t *testing.T) {
	both := []string{server.ContainerName, "app"}
	start := now.Add(-time.Second)
	warmedUp := func(s *scene) *scene {
		return s.clients(func(c *session.ClientState) {
			c.Starts = map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_WARMUP: now.Add(-time.Minute).UnixMicro(), measurementStage: start.UnixMicro()}
		})
	}
	base := func() *scene { return newScene().tomcat("").withBackend() }
	for name, tc := range map[string]struct {
		scene *scene
		want  []string
		since time.Time
	}{
		"under load":             {base().started(measurementStage), nil, time.Time{}},
		"without the last usage": {base().collected(), nil, time.Time{}},
		"all is collected":       {base().collected().sampled(), both, start},
		"after a warm-up":        {warmedUp(base().collected().sampled()), both, now.Add(-time.Minute)},
		"a new manager": {func() *scene {
			s := base().collected().sampled()
			s.o.Sessions.Starts = nil
			return s
		}(), both, start},
		"it is stored": {func() *scene {
			s := base().collected().sampled()
			s.o.Stored = &observed.Stored{}
			return s
		}(), nil, time.Time{}},
		"the pod is gone": {func() *scene {
			s := base().collected().sampled()
			s.o.Target = nil
			return s
		}(), nil, time.Time{}},
		"a log that nobody understands": {newScene().collected().sampled(), nil, start},
	} {
		got, since := observed.NeedsLoadLogs(tc.scene.run, tc.scene.o, now)
		if !slices.Equal(got, tc.want) || !since.Equal(tc.since) {
			t.Errorf("%s: read %v since %v, want %v since %v", name, got, since, tc.want, tc.since)
		}
	}
}

// TestServersErrorsAreInTheResult checks that what the servers logged under load is stored and judged.
func TestServersErrorsAreInTheResult(t *testing.T) {
	s := newScene().tomcat("").withBackend().collected().sampled()
	s.o.LoadLogs = map[string]string{"app": "22-Nov-2026 17:27:24.691 SEVERE [a] b\n22-Nov-2026 17:27:25.691 SEVERE [c] d\n", server.ContainerName: "fine\n"}
	r := stored(t, s.decide())
	if want := []result.ServerErrors{{Container: "app", Lines: 2, First: "22-Nov-2026 17:27:24.691 SEVERE [a] b"}}; !slices.Equal(r.ServerErrors, want) {
		t.Errorf("%+v, want %+v", r.ServerErrors, want)
	}
	if !slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return f.Reason == "ServerLogErrors" }) {
		t.Errorf("findings: %+v", r.Findings)
	}
}
