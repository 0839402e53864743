package run

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

func TestDecideEndsARunOutOfBounds(t *testing.T) {
	for name, test := range map[string]struct {
		settings manifest.Settings
		admitted bool
		want     []string
	}{
		"no bounds":                 {},
		"a deadline as allowed":     {settings: manifest.Settings{MaxActiveDeadline: 2 * time.Hour}},
		"a longer deadline":         {settings: manifest.Settings{MaxActiveDeadline: time.Hour}, want: []string{"spec.activeDeadlineSeconds is 7200", "3600"}},
		"a lane as allowed":         {settings: manifest.Settings{Lanes: []string{"other", "l"}}},
		"another lane":              {settings: manifest.Settings{Lanes: []string{"other", "third"}}, want: []string{"spec.lane is l", "other, third"}},
		"it was admitted before":    {settings: manifest.Settings{Lanes: []string{"other"}}, admitted: true},
		"deadline when it runs now": {settings: manifest.Settings{MaxActiveDeadline: time.Hour}, admitted: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(7200))
			if !test.admitted {
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
			}
			s.o.Settings = test.settings
			got := stateIn(s.decide())
			if ended := got.Reason == v1alpha1.ReasonInvalidSpec; ended != (len(test.want) > 0) {
				t.Fatalf("%+v", got)
			}
			for _, want := range test.want {
				if !strings.Contains(got.Message, want) {
					t.Errorf("%q lacks %q", got.Message, want)
				}
			}
		})
	}
}
