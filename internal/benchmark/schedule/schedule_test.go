package schedule_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/schedule"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestScheduleDue(t *testing.T) {
	type due struct {
		Start, Last, Next string
	}
	text := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339)
	}
	for name, c := range map[string]struct {
		schedule   v1alpha1.Schedule
		after, now string
		want       due
	}{
		"not yet": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *"}, after: "2026-11-22T12:00:00Z", now: "2026-11-23T01:59:59Z",
			want: due{Next: "2026-11-23T02:00:00Z"},
		},
		"to the second": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *"}, after: "2026-11-22T12:00:00Z", now: "2026-11-23T02:00:00Z",
			want: due{Start: "2026-11-23T02:00:00Z", Last: "2026-11-23T02:00:00Z", Next: "2026-11-24T02:00:00Z"},
		},
		"not twice": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *"}, after: "2026-11-23T02:00:00Z", now: "2026-11-23T02:10:00Z",
			want: due{Next: "2026-11-24T02:00:00Z"},
		},
		"within the deadline": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *"}, after: "2026-11-22T02:00:00Z", now: "2026-11-23T03:00:00Z",
			want: due{Start: "2026-11-23T02:00:00Z", Last: "2026-11-23T02:00:00Z", Next: "2026-11-24T02:00:00Z"},
		},
		"past the deadline": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *"}, after: "2026-11-22T02:00:00Z", now: "2026-11-23T03:00:01Z",
			want: due{Last: "2026-11-23T02:00:00Z", Next: "2026-11-24T02:00:00Z"},
		},
		"a longer deadline": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *", StartingDeadlineSeconds: ptr.To(int32(7200))}, after: "2026-11-22T02:00:00Z", now: "2026-11-23T03:30:00Z",
			want: due{Start: "2026-11-23T02:00:00Z", Last: "2026-11-23T02:00:00Z", Next: "2026-11-24T02:00:00Z"},
		},
		"one of several is made up": {
			schedule: v1alpha1.Schedule{Cron: "*/10 * * * *"}, after: "2026-11-22T02:00:00Z", now: "2026-11-22T02:45:00Z",
			want: due{Start: "2026-11-22T02:40:00Z", Last: "2026-11-22T02:40:00Z", Next: "2026-11-22T02:50:00Z"},
		},
		"after a long time": {
			schedule: v1alpha1.Schedule{Cron: "* * * * *"}, after: "1970-01-01T00:00:00Z", now: "2026-11-22T02:45:30Z",
			want: due{Start: "2026-11-22T02:45:00Z", Last: "2026-11-22T02:45:00Z", Next: "2026-11-22T02:46:00Z"},
		},
		"an irregular schedule": {
			schedule: v1alpha1.Schedule{Cron: "30 6-16/4 * * 1-5"}, after: "2026-11-20T14:30:00Z", now: "2026-11-23T06:29:00Z",
			want: due{Next: "2026-11-23T06:30:00Z"},
		},
		"a clock that was set back": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *"}, after: "2026-11-23T02:00:00Z", now: "2026-11-20T02:00:00Z",
			want: due{Next: "2026-11-21T02:00:00Z"},
		},
		"a rare day": {
			schedule: v1alpha1.Schedule{Cron: "0 0 29 2 *"}, after: "2022-01-01T00:00:00Z", now: "2026-11-22T00:00:00Z",
			want: due{Last: "2024-02-29T00:00:00Z", Next: "2028-02-29T00:00:00Z"},
		},
		"a time zone, in winter": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *", TimeZone: "Europe/Berlin"}, after: "2026-11-22T12:00:00Z", now: "2026-11-23T01:00:00Z",
			want: due{Start: "2026-11-23T01:00:00Z", Last: "2026-11-23T01:00:00Z", Next: "2026-11-24T01:00:00Z"},
		},
		"a time zone, in summer": {
			schedule: v1alpha1.Schedule{Cron: "0 2 * * *", TimeZone: "Europe/Berlin"}, after: "2026-07-22T12:00:00Z", now: "2026-07-23T00:00:00Z",
			want: due{Start: "2026-07-23T00:00:00Z", Last: "2026-07-23T00:00:00Z", Next: "2026-07-24T00:00:00Z"},
		},
		"the day after clocks were set forward": { // from 2:00 to 3:00 on 2026-03-29: the day has no 2:30
			schedule: v1alpha1.Schedule{Cron: "30 2 * * *", TimeZone: "Europe/Berlin"}, after: "2026-03-28T02:00:00Z", now: "2026-03-29T12:00:00Z",
			want: due{Next: "2026-03-30T00:30:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schedule.Parse(&c.schedule)
			if err != nil {
				t.Fatal(err)
			}
			got := s.Due(at(t, c.after), at(t, c.now))
			if diff := cmp.Diff(c.want, due{text(got.Start), text(got.Last), text(got.Next)}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// However far apart the calls are, the last time that has come is the one that counting finds.
func TestScheduleLast(t *testing.T) {
	s, err := schedule.Parse(&v1alpha1.Schedule{Cron: "7,13 3-5 * * 1,4", TimeZone: "Europe/Berlin"})
	if err != nil {
		t.Fatal(err)
	}
	after := at(t, "2026-03-01T00:00:00Z")
	var want time.Time
	for now, next := after, s.Next(after); now.Before(after.AddDate(0, 0, 40)); now = now.Add(97 * time.Minute) {
		for !next.After(now) {
			want, next = next, s.Next(next)
		}
		if got := s.Due(after, now); !got.Last.Equal(want) || !got.Next.Equal(next) {
			t.Errorf("at %s: last %s, want %s, next %s, want %s", now, got.Last, want, got.Next, next)
		}
	}
}

func TestScheduleRefused(t *testing.T) {
	for _, c := range []struct{ cron, zone, want string }{
		{"0 2 * *", "", "spec.schedule.cron: expected exactly 5 fields, found 4: [0 2 * *]"},
		{"61 2 * * *", "", "spec.schedule.cron: end of range (61) above maximum (59): 61"},
		{"@daily", "", "spec.schedule.cron: parser does not accept descriptors: @daily"},
		{"TZ=UTC", "", "spec.schedule.cron: it must not have a time zone: use spec.schedule.timeZone"},
		{"CRON_TZ=UTC 0 2 * * *", "", "spec.schedule.cron: it must not have a time zone: use spec.schedule.timeZone"},
		{"0 2 31 2 *", "", `spec.schedule.cron: "0 2 31 2 *" has no time: no month has such a day`},
		{"0 2 * * *", "Europe/Bonn", "spec.schedule.timeZone: unknown time zone Europe/Bonn"},
		{"0 2 * * *", "../../etc/passwd", "spec.schedule.timeZone: time: invalid location name"},
		{"0 2 * * *", "local", "spec.schedule.timeZone: it must name a time zone, such as Europe/Berlin: the manager's own is not known to users"},
	} {
		if _, err := schedule.Parse(&v1alpha1.Schedule{Cron: c.cron, TimeZone: c.zone}); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: got %v, want %s", c.cron, c.zone, err, c.want)
		}
	}
}

// Whatever users write is refused, or has a next time.
func FuzzSchedule(f *testing.F) {
	for _, cron := range []string{"0 2 * * *", "*/0 * * * *", "TZ=", "1-0 * * * *", "* * * * 7", "0 0 29 2 *", "? ? ? ? ?", "*/15 0-5,22 1 jan,feb mon-fri"} {
		f.Add(cron, "UTC")
		f.Add(cron, "America/Sao_Paulo")
	}
	f.Fuzz(func(t *testing.T, cron, zone string) {
		s, err := schedule.Parse(&v1alpha1.Schedule{Cron: cron, TimeZone: zone})
		if err != nil {
			return
		}
		now := at(t, "2026-11-23T02:00:00Z")
		d := s.Due(now.AddDate(0, -1, 0), now)
		if !d.Next.After(now) || d.Last.After(now) {
			t.Errorf("%q %q: %+v", cron, zone, d)
		}
	})
}
