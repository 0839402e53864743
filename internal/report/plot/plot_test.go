package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hostile = `"><script>alert(1)</script><svg onload='x'>` + "\x00\x1b]]>&"

// everything returns a figure with each mark, and a text wherever one can be.
func everything(text string) *Figure {
	stroke, at := Stroke{Color: P99, Dash: text}, Point{X: 5, Y: 5}
	marks := []Mark{
		Line{Stroke: stroke, Points: []Point{{}, at}, Name: text}, Interval{Stroke: stroke, To: at, Caps: 3}, Rule{X: 3, Stroke: stroke, Text: text}, Level(4, stroke),
		Area{Color: Grid, Outlines: [][]Point{{{}, at, {X: 9}}}}, Dots{Color: P999, Radius: 2, Points: []Point{at}}, Text{At: at, Text: text, Bold: true},
		Rect{To: at, Color: Bad, Outlined: true, Hatched: true, Corner: true, Ink: Ink, Text: text, Tip: text}, Rect{To: at, Color: Heat(1), Apart: true}, Dot{At: at, Number: 3, Tip: text, Color: Good},
	}
	for s := Circle; s <= Down; s++ {
		marks = append(marks, Dot{At: at, Shape: s, Color: Bad, Hollow: s == Square, Tip: text})
	}
	x := Linear(0, 10)
	x.Ticks[0].Label, x.Ticks[1].Below = text, text
	names := []Name{{Text: text, Stroke: stroke, Bold: true}, {Text: text, Box: true, Stroke: stroke}, {Text: text, Dotted: true, Stroke: stroke}, OfVariant(2, text, 4), {Text: text, Value: text}}
	xy := Plot{Title: text, Axis: text, X: x, Y: x, XName: text, Height: 100, Marks: marks, Names: names, Invalid: true}
	rows := Plot{Axis: text, X: x, XName: text, Names: names, Ends: [2]string{text, text}, Invalid: true, Rows: []Row{{Name: text, Bold: true, Marks: marks, Texts: []Text{{Text: text, Color: Good, Bold: true}}}, {}}}
	return &Figure{Title: text, Description: text, Names: names, Note: text, Columns: [][]Plot{{xy, rows}, {xy}}}
}

// TestNothingBreaksOut writes a hostile text wherever one can be, and checks that the result is XML without any element
// or attribute that this package doesn't write.
func TestNothingBreaksOut(t *testing.T) {
	f := everything(hostile)
	for name, document := range map[string]string{
		"part of a page": string(f.HTML()),
		"alone":          File(Caption{Subject: hostile, Verdict: hostile, Date: hostile, VerdictColor: Bad, Invalid: true}, f, f),
	} {
		t.Run(name, func(t *testing.T) {
			known := strings.Fields("svg defs pattern path rect circle use text g title style")
			if name != "alone" {
				known = append(known, "div", "p", "span")
			}
			d := xml.NewDecoder(strings.NewReader(document))
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					t.Fatalf("%v in\n%s", err, document)
				}
				element, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				if !slices.Contains(known, element.Name.Local) {
					t.Errorf("element %s", element.Name.Local)
				}
				for _, a := range element.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
						t.Errorf("attribute %s", a.Name.Local)
					}
				}
			}
		})
	}
}

// TestTheSameBytes checks that a figure is the same each time.
func TestTheSameBytes(t *testing.T) {
	first, second := everything("a"), everything("a")
	if first.HTML() != second.HTML() || File(Caption{}, first) != File(Caption{}, second) {
		t.Error("other bytes the second time")
	}
}

func TestTicks(t *testing.T) {
	for name, tc := range map[string]struct {
		scale Scale
		want  []string
	}{
		"from 0":            {Linear(0, 4510), []string{"0", "2,000", "4,000", "6,000"}},
		"small":             {Linear(0, 0.07), []string{"0.00", "0.02", "0.04", "0.06", "0.08"}},
		"nothing":           {Linear(0, 0), []string{"0.0", "0.5", "1.0"}},
		"negative":          {Linear(-3, 8), []string{"-5", "0", "5", "10"}},
		"exact":             {LinearExact(656), []string{"0", "200", "400", "600"}},
		"one decade":        {Logarithmic(5.5, 93), []string{"5", "10", "20", "50", "100"}},
		"three decades":     {Logarithmic(0.8, 790), []string{"1", "10", "100", "1,000"}},
		"seven decades":     {Logarithmic(0.1, 1e6), []string{"1", "100", "10,000", "1,000,000"}},
		"one value":         {Logarithmic(20, 20), []string{"10", "20"}},
		"seconds":           {Time(-4, 22, 5), []string{"0\u202fs", "10\u202fs", "20\u202fs"}},
		"minutes":           {Time(0, 600, 5), []string{"0:00", "5:00", "10:00"}},
		"hours":             {Time(0, 36_000, 5), []string{"0:00", "4:00", "8:00"}},
		"ratios":            {LogRatio(0.11, 1, 5, -3, 12), []string{"−10", "−5", "0", "+5", "+10"}},
		"large ratios":      {LogRatio(0.11, 1, -70), []string{"×1/2", "−33", "0", "+50", "×2"}},
		"beyond all ratios": {LogRatio(0.11, 1, -100), []string{"×1/5", "×1/2", "0", "×2", "×5"}},
		"shares":            {Shares(2000), []string{"0%", "50%", "90%", "99%", "99.9%"}},
		"categories":        {Categories([]string{"a", "b"}), []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			last := math.Inf(-1)
			for _, tick := range tc.scale.Ticks {
				got = append(got, tick.Label)
				if x, beyond := tc.scale.Place(tick.Value); beyond || x <= last {
					t.Errorf("%s is at %g after %g, beyond: %t", tick.Label, x, last, beyond)
				} else {
					last = x
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got) > MaxTicks+1 {
				t.Errorf("%d ticks", len(got))
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	s := Logarithmic(1, 1000)
	for value, want := range map[float64]float64{1: 0, 10: 1.0 / 3, 1000: 1, 5000: 1, 0: 0, -3: 0} {
		if got := s.At(value); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g is at %g, want %g", value, got, want)
		}
	}
	if _, clamped := s.Place(5000); !clamped {
		t.Error("a value above the axis isn't said to be")
	}
	if y := Pixels(30); y.At(0) != 1 || y.At(30) != 0 || y.At(15) != 0.5 {
		t.Error("ordinates in pixels don't begin at the top")
	}
}

func TestLabelsDoNotTouch(t *testing.T) {
	got := spread([]float64{50, 52, 10, 51}, 14, 8, 100)
	if diff := cmp.Diff([]float64{50, 78, 10, 64}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, y := range spread([]float64{99, 99, 99}, 14, 90, 100) {
		if want := 90 + 5*float64(i); y != want {
			t.Errorf("label %d at %g, want %g", i, y, want)
		}
	}
}

func TestLinesAreInterruptedAtGaps(t *testing.T) {
	if got, want := trace([]Point{{1, 2}, {3, 4}, Gap(), {5, 6}, Gap()}), "M1 2l2 2M5 6h0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLabelsHaveRoom checks at each width that no label that is shown touches another or leaves the plot, that those that were added
// first are shown, and that more are shown where there is more room.
func TestLabelsHaveRoom(t *testing.T) {
	p := Plot{X: Linear(0, 100), Y: Linear(0, 10), XName: "users of all clients", Height: 100, Names: []Name{{Text: "p99", Y: 9, Stroke: Stroke{Color: P99}}}}
	for x := 2.0; x < 100; x += 7 {
		p.Marks = append(p.Marks, Text{At: Point{X: x, Y: 5}, Text: fmt.Sprintf("label %g", x), Anchor: []Anchor{Start, Center, End}[int(x)%3]})
	}
	d, _ := p.drawing(p.inPage())
	written := d.texts()
	shown := 0
	for width := widths[0]; width < 2000; width += 10 {
		room := width - axisLeft - edge
		if width >= narrowWidth {
			room = width - axisLeft - namesWidth
		}
		var boxes []box
		for i := range d.labels {
			l := &d.labels[i]
			class := regexp.MustCompile(`<text class="f-[a-z]+( from([0-9]))?[^>]*>` + l.text + `<`).FindStringSubmatch(written)
			if class == nil {
				continue
			}
			if least, _ := strconv.Atoi(class[2]); width < widths[least] {
				continue
			}
			b := l.box(room)
			if b.left < -edge || b.right > width-axisLeft {
				t.Fatalf("%g wide: %q from %g to %g", width, l.text, b.left, b.right)
			}
			for _, other := range boxes {
				if b.touches(other) {
					t.Fatalf("%g wide: %q touches another", width, l.text)
				}
			}
			boxes = append(boxes, b)
		}
		if len(boxes) < shown {
			t.Fatalf("%g wide: %d labels, before %d", width, len(boxes), shown)
		}
		shown = len(boxes)
	}
	if !strings.Contains(written, `<text class="f-muted" x="0%"`) || !strings.Contains(written, ">users of all clients<") || shown < 8 {
		t.Errorf("%d labels in %s", shown, written)
	}
}
