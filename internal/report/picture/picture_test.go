package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hostile = `"><script>alert(1)</script><svg onload='x'>` + "\x00\x1b]]>&"

// TestNothingBreaksOut writes a hostile text wherever one can be, and checks that the result is XML without any element
// or attribute that this package doesn't write.
func TestNothingBreaksOut(t *testing.T) {
	p := New(300, 100)
	p.Describe(hostile, hostile)
	p.Text(1, 2, hostile, TextStyle{})
	p.Clipped(1, 2, hostile, 40, TextStyle{Bold: true})
	p.Line(1, 2, 3, 4, Stroke{Color: P99, Dash: hostile})
	p.TippedRect(1, 2, 3, 4, Good, hostile)
	p.Circle(1, 2, 3, Bad, true, hostile)
	p.Cross(1, 2, 3, Bad, hostile)
	p.Hatched(1, 2, 3, 4, Bad, hostile)
	p.Number(1, 2, 3, hostile)
	for i := range Variants {
		p.Marker(1, 2, i, i%2 == 0, hostile)
	}
	s := Linear(0, 10, 90, 10)
	s.Ticks[0].Label = hostile
	p.YAxis(Box{40, 10, 200, 80}, &s, hostile)
	p.XAxis(Box{40, 10, 200, 80}, &s, hostile)
	for name, document := range map[string]string{
		"part of a page": string(p.HTML()),
		"alone":          p.SVG(Caption{Subject: hostile, Verdict: hostile, Date: hostile, VerdictColor: Bad, Invalid: true}),
	} {
		t.Run(name, func(t *testing.T) {
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
				if !slices.Contains([]string{"svg", "defs", "pattern", "path", "rect", "circle", "text", "g", "title", "style"}, element.Name.Local) {
					t.Errorf("element %s", element.Name.Local)
				}
				for _, a := range element.Attr {
					if strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("attribute %s", a.Name.Local)
					}
				}
			}
		})
	}
}

func TestTicks(t *testing.T) {
	for name, tc := range map[string]struct {
		scale Scale
		want  []string
	}{
		"from 0":            {Linear(0, 4510, 0, 1), []string{"0", "2,000", "4,000", "6,000"}},
		"small":             {Linear(0, 0.07, 0, 1), []string{"0.00", "0.02", "0.04", "0.06", "0.08"}},
		"nothing":           {Linear(0, 0, 0, 1), []string{"0.0", "0.5", "1.0"}},
		"negative":          {Linear(-3, 8, 0, 1), []string{"-5", "0", "5", "10"}},
		"exact":             {LinearExact(656, 0, 1), []string{"0", "200", "400", "600"}},
		"one decade":        {Logarithmic(5.5, 93, 0, 1), []string{"5", "10", "20", "50", "100"}},
		"three decades":     {Logarithmic(0.8, 790, 0, 1), []string{"1", "10", "100", "1,000"}},
		"seven decades":     {Logarithmic(0.1, 1e6, 0, 1), []string{"1", "100", "10,000", "1,000,000"}},
		"one value":         {Logarithmic(20, 20, 0, 1), []string{"10", "20"}},
		"seconds":           {Time(-4, 22, 0, 1, 5), []string{"0\u202fs", "10\u202fs", "20\u202fs"}},
		"minutes":           {Time(0, 600, 0, 1, 5), []string{"0:00", "5:00", "10:00"}},
		"hours":             {Time(0, 36_000, 0, 1, 5), []string{"0:00", "4:00", "8:00"}},
		"ratios":            {LogRatio(12, 0, 400), []string{"−10", "−5", "0", "+5", "+10"}},
		"large ratios":      {LogRatio(-70, 0, 400), []string{"×1/2", "−33", "0", "+50", "×2"}},
		"beyond all ratios": {LogRatio(-100, 0, 400), []string{"×1/5", "×1/2", "0", "×2", "×5"}},
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
	s := Logarithmic(1, 1000, 300, 0)
	for value, want := range map[float64]float64{1: 300, 10: 200, 1000: 0, 5000: 0, 0: 300, -3: 300} {
		if got := s.At(value); math.Abs(got-want) > 1e-6 {
			t.Errorf("%g is at %g, want %g", value, got, want)
		}
	}
	if _, clamped := s.Place(5000); !clamped {
		t.Error("a value above the axis isn't said to be")
	}
}

func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		Significant(4509.7): "4,510", Significant(93.84): "93.8", Significant(0.05123): "0.0512", Significant(0): "0", Significant(-3.5): "−3.50",
		Significant(999.96): "1,000", Significant(1234567): "1,230,000", Significant(math.NaN()): "-",
		Share(1, 100_000): "<0.01%", Share(99_999, 100_000): ">99.99%", Share(0, 5): "0%", Share(5, 5): "100%", Share(1, 8): "12.5%", Share(1, 500): "0.20%",
		Count(1234567): "1,234,567", Percent(53.4): "53%", Percent(0.2): "<1%", Milliseconds(5520): "5.52",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLabelsDoNotTouch(t *testing.T) {
	got := Spread([]Label{{Y: 50}, {Y: 52}, {Y: 10}, {Y: 51}}, 14, 8, 100)
	if diff := cmp.Diff([]float64{50, 78, 10, 64}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, y := range Spread([]Label{{Y: 99}, {Y: 99}, {Y: 99}}, 14, 90, 100) {
		if want := 90 + 5*float64(i); y != want {
			t.Errorf("label %d at %g, want %g", i, y, want)
		}
	}
}

func TestLinesAreInterruptedAtGaps(t *testing.T) {
	if got, want := Trace([]Point{{1, 2}, {3, 4}, Gap(), {5, 6}, Gap()}), "M1 2l2 2M5 6h0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
