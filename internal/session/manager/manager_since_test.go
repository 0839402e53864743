package manager

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
)

// A manager that was just started, or has just become the leader, must not consider
// the pods of a run lost before they had time to reconnect.
func TestARunThatIsUnknownIsAsOldAsTheServing(t *testing.T) {
	s := New(nil, func(string) {}, logr.Discard())
	if age := time.Since(s.Observe("unknown").Since); age > time.Minute {
		t.Errorf("before it serves, the run has been silent for %s", age)
	}
	s.served = time.Now().Add(-time.Hour)
	if got := s.Observe("unknown").Since; !got.Equal(s.served) {
		t.Errorf("since %s, want %s", got, s.served)
	}
}
