package report_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/golden"
	"github.com/assay-dev/assay/internal/result"
)

func TestGolden(t *testing.T) {
	for name, r := range map[string]*result.Result{"tomcat": tomcat(), "failing": failing(), "nothing": nothing(), "forwarding": forwarding(), "standalone": standalone(), "open": opened(), "stages": staged(), "pages": paged()} {
		for _, format := range []string{"csv", "json", "text"} {
			t.Run(name+"."+format, func(t *testing.T) {
				var got bytes.Buffer
				err := report.Write(&got, format, r)
				if report.NeedsLevels(format) && len(r.Levels) == 0 {
					if err == nil || !strings.Contains(err.Error(), "no levels") {
						t.Errorf("error %v of a load without levels", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				golden.Compare(t, filepath.Join("testdata", name+"."+format+".golden"), got.String())
			})
		}
	}
}

// TestThresholdsOfAnInvalidResult checks that reports don't judge by metrics that can't be trusted.
func TestThresholdsOfAnInvalidResult(t *testing.T) {
	valid, invalid := tomcat(), tomcat()
	invalid.Findings = failing().Findings
	for name, want := range map[string]struct{ valid, invalid string }{
		"text": {"Thresholds: MISSED\n", "Thresholds: unknown, since the result is not valid\n"},
		"json": {`"thresholdsMet": false,`, `"valid": false,` + "\n" + `    "startSkewMicroseconds"`},
	} {
		for r, text := range map[*result.Result]string{valid: want.valid, invalid: want.invalid} {
			var got bytes.Buffer
			if err := report.Write(&got, name, r); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.String(), text) {
				t.Errorf("%s: lacks %q:\n%s", name, text, got.String())
			}
		}
	}
}

func TestAcceptedFindingsAreShownButDoNotWarn(t *testing.T) {
	accepted := result.Finding{Reason: "NoWarmup", Severity: result.Accepted, Message: "measured cold"}
	warns := result.Finding{Reason: "TooShort", Severity: result.Warns, Message: "5 requests"}
	for head, findings := range map[string][]result.Finding{
		"\nVALID\n  Accepted NoWarmup: measured cold\n":                                               {accepted},
		"\nVALID, with 1 warning\n  Warns TooShort: 5 requests\n  Accepted NoWarmup: measured cold\n": {warns, accepted},
	} {
		r := tomcat()
		r.Findings = findings
		var got bytes.Buffer
		if err := report.Write(&got, "text", r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), head) {
			t.Errorf("lacks %q:\n%.800s", head, got.String())
		}
	}
}

func TestJSONKeepsTheWholeResult(t *testing.T) {
	want, levels := forwarding(), staged()
	want.Levels, want.Steps, want.BreakingPoints, want.Stop = levels.Levels, levels.Steps, levels.BreakingPoints, levels.Stop
	want.Statuses, want.ByRequest = paged().Statuses, paged().ByRequest
	want.ByRequest[0].Summarize()
	want.Environment.ServerSoftware = "a\u009b31mb\u202e\u00e9"
	var document bytes.Buffer
	if err := report.Write(&document, "json", want); err != nil {
		t.Fatal(err)
	}
	var got result.Result
	if err := json.Unmarshal(document.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	sameHistograms := cmp.Comparer(func(a, b *result.Histogram) bool {
		if a == nil || b == nil {
			return a == b
		}
		ea, _ := a.Encode()
		eb, _ := b.Encode()
		return cmp.Equal(ea, eb)
	})
	if diff := cmp.Diff(want, &got, sameHistograms); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNothingObeyedByTerminals checks reports of a result whose texts all contain
// control sequences and line breaks.
func TestNothingObeyedByTerminals(t *testing.T) {
	r, other, levels := failing(), forwarding(), staged()
	r.Levels, r.Steps, r.BreakingPoints, r.Stop = levels.Levels, levels.Steps, levels.BreakingPoints, levels.Stop
	r.Thresholds, r.Backends, r.Environment.Backends = other.Thresholds, other.Backends, other.Environment.Backends
	r.Series, r.Statuses, r.ByRequest = secondly().Series, paged().Statuses, paged().ByRequest
	poison(reflect.ValueOf(r).Elem())
	for _, format := range report.Names() {
		t.Run(format, func(t *testing.T) {
			var got bytes.Buffer
			if err := report.Write(&got, format, r); err != nil {
				if strings.Contains(err.Error(), "no successful request has the phase") {
					return
				}
				t.Fatal(err)
			}
			for _, c := range got.String() {
				if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
					t.Fatalf("%q in the report", c)
				}
			}
			if format == "text" && strings.Contains(got.String(), "\nFORGED") {
				t.Error("a text from outside stands on a line of its own")
			}
		})
	}
}

func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + "\x1b[2J\u009b1m\u202e\nFORGED\r")
		}
	case reflect.Pointer:
		if _, isHistogram := v.Interface().(*result.Histogram); !v.IsNil() && !isHistogram {
			poison(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Struct:
		if _, isTime := v.Interface().(time.Time); isTime {
			return
		}
		for i := range v.NumField() {
			poison(v.Field(i))
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	err := report.Write(&bytes.Buffer{}, "yaml", tomcat())
	if err == nil || !strings.Contains(err.Error(), "json, junit, markdown, requests, text") {
		t.Errorf("error %v, want one that names the formats", err)
	}
}
