package watch

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBarOfAView(t *testing.T) {
	for name, tc := range map[string]struct {
		view  view
		width int
		want  string
	}{
		"nothing done":    {view{state: "Measuring", percent: 0}, 80, "Measuring  [                              ]   0%"},
		"half done":       {view{"Measuring", 50, "5 requests/s"}, 80, "Measuring  [===============               ]  50%  5 requests/s"},
		"all done":        {view{state: "Measuring", percent: 100}, 80, "Measuring  [==============================] 100%"},
		"beyond the end":  {view{state: "Measuring", percent: 130}, 80, "Measuring  [==============================] 130%"},
		"without percent": {view{"Queued", -1, "behind other"}, 80, "Queued      behind other"},
		"narrow":          {view{"Queued", -1, "behind other"}, 20, "Queued      behind "},
		"no width at all": {view{"Queued", -1, "behind other"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.view.bar(tc.width)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBarRewritesOneLineForEachState(t *testing.T) {
	var out bytes.Buffer
	b := &bar{out: &out, notes: &out, width: func() int { return 80 }}
	b.show(view{"Queued", -1, "behind other"})
	b.show(view{"Queued", -1, "next"})
	b.show(view{"Starting", -1, "target"})
	b.note("lost")
	b.note("lost")
	b.show(view{"Starting", -1, "clients"})
	b.close()
	b.close()
	want := "\rQueued      behind other\x1b[K" + "\rQueued      next\x1b[K" + "\n" +
		"\rStarting    target\x1b[K" + "\n" + "lost\n" +
		"\rStarting    clients\x1b[K" + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestLinesOnChangeOnly(t *testing.T) {
	var out, notes bytes.Buffer
	l := &lines{out: &out, notes: &notes}
	l.show(view{"Measuring", 5, "9 requests/s"})
	l.show(view{"Measuring", 5, "9 requests/s"})
	l.note("lost\x1b[2J\n")
	l.note("lost\x1b[2J\n")
	l.show(view{"Measuring", 15, ""})
	l.close()
	if diff := cmp.Diff("Measuring    5%  9 requests/s\nMeasuring   15%\n", out.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("lost[2J\n", notes.String()); diff != "" {
		t.Error(diff)
	}
}
