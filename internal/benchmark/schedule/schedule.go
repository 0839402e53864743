// Package schedule says when rounds begin.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Schedule has the times at which rounds begin, with the semantics of a CronJob.
type Schedule struct {
	times    cron.Schedule
	zone     *time.Location
	deadline time.Duration
}

// The five fields of cron only, as the API documents them. Kubernetes' own parser also accepts
// descriptors such as @daily.
var cronFields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// Parse returns the schedule of a spec. Errors begin with the path of the field that is wrong. Time
// zones are those of the program or of its machine: programs embed time/tzdata.
func Parse(spec *v1alpha1.Schedule) (*Schedule, error) {
	if strings.Contains(spec.Cron, "TZ=") {
		return nil, errors.New("spec.schedule.cron: it must not have a time zone: use spec.schedule.timeZone")
	}
	times, err := cronFields.Parse(spec.Cron)
	if err != nil {
		return nil, fmt.Errorf("spec.schedule.cron: %w", err)
	}
	name := spec.TimeZone
	if strings.EqualFold(name, "Local") {
		return nil, errors.New("spec.schedule.timeZone: it must name a time zone, such as Europe/Berlin: the manager's own is not known to users")
	}
	zone, err := time.LoadLocation(name) // UTC if it is empty
	if err != nil {
		return nil, fmt.Errorf("spec.schedule.timeZone: %w", err)
	}
	s := &Schedule{times: times, zone: zone, deadline: time.Duration(ptr.Deref(spec.StartingDeadlineSeconds, 3600)) * time.Second}
	// Days that no month has are found by years of looking ahead; any start will do.
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("spec.schedule.cron: %q has no time: no month has such a day", spec.Cron)
	}
	return s, nil
}

// Next returns the first time after a time.
func (s *Schedule) Next(after time.Time) time.Time {
	return s.times.Next(after.In(s.zone))
}

// Due says whether a schedule asks for a round at a time.
type Due struct {
	// Start is the time for which a round is to begin now: the last that has come and isn't older
	// than the starting deadline. It is zero if there is none. Earlier ones are never made up.
	Start time.Time
	// Last is the last time that has come, whether or not a round is to begin for it. It is zero if there
	// is none.
	Last time.Time
	// Next is the next time to come.
	Next time.Time
}

// Due returns what is due now. after is the last time of the schedule at which a round began or was
// skipped, or else the creation of the Benchmark.
func (s *Schedule) Due(after, now time.Time) Due {
	d := Due{Next: s.Next(now), Last: s.last(after, now)}
	if !d.Last.IsZero() && now.Sub(d.Last) <= s.deadline {
		d.Start = d.Last
	}
	return d
}

// last returns the last time in (after, now], or zero if there is none. It looks back twice as far each
// time, so that it neither counts through all times since an early after nor through many of those in the
// span in which it finds one.
func (s *Schedule) last(after, now time.Time) time.Time {
	for span := time.Minute; ; span *= 2 {
		from := now.Add(-span)
		if from.Before(after) || span > now.Sub(time.Time{}) {
			from = after
		}
		var last time.Time
		for t := s.Next(from); !t.IsZero() && !t.After(now); t = s.Next(t) {
			last = t
		}
		if !last.IsZero() || !from.After(after) {
			return last
		}
	}
}
