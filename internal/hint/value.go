package hint

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// scalar returns a value that is no list and no object as YAML, or "".
func scalar(value any) string {
	switch value := value.(type) {
	case string:
		if value == "" || strings.ContainsAny(value, ":#{}[],&*!|>'\"%@` \n\t") || duration(value) < 0 && isLiteral(value) {
			return strconv.Quote(value)
		}
		return value
	case bool, float64, int64, int, json.Number:
		text, _ := json.Marshal(value)
		return string(text)
	}
	return ""
}

// isLiteral reports whether YAML reads a text as something else than a string.
func isLiteral(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "~":
		return true
	}
	return err == nil
}

func isBool(value any) bool { _, is := value.(bool); return is }

func isNumber(value any) bool { _, is := number(value); return is }

// number returns the number that a value is, or that a string has.
func number(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case int64:
		return float64(value), true
	case string:
		n, err := strconv.ParseFloat(value, 64)
		return n, err == nil
	}
	return 0, false
}

// duration returns what a text such as 1m30s says, or -1.
func duration(value any) time.Duration {
	text, _ := value.(string)
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if err != nil || isNumber(value) {
		return -1
	}
	return d
}

// sizes are the units of sizes in bytes, longer ones first.
var sizes = []struct {
	unit  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1},
}

// converted returns a value as a field takes it, as YAML, or "" if it isn't known how.
func (f *Fields) converted(name string, value any) string {
	switch {
	case f == nil: // one of the metadata
		return scalar(value)
	case len(f.Enum) > 0:
		return f.oneOf(value)
	case f.Type == "integer":
		n, is := number(value)
		if d := duration(value); !is && d >= 0 {
			switch {
			case strings.Contains(strings.ToLower(name), "milliseconds"):
				n, is = float64(d)/float64(time.Millisecond), true
			case strings.Contains(strings.ToLower(name), "seconds"):
				n, is = d.Seconds(), true
			}
		}
		if text, _ := value.(string); !is && strings.HasSuffix(name, "Bytes") {
			text = strings.ToLower(strings.ReplaceAll(text, " ", ""))
			for _, size := range sizes {
				if digits, has := strings.CutSuffix(text, size.unit); has && !is {
					n, is = number(digits)
					n *= size.bytes
				}
			}
		}
		if is && n == math.Trunc(n) && math.Abs(n) < 1e15 {
			return strconv.FormatInt(int64(n), 10)
		}
		return ""
	case f.Type == "number":
		if n, is := number(value); is {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
		return ""
	case f.Type == "string":
		if text := scalar(value); text != "" && !isBool(value) && isNumber(value) {
			return strconv.Quote(strings.Trim(text, `"`))
		}
		if isBool(value) {
			return ""
		}
		return scalar(value)
	case f.Type == "array":
		if text := f.Items.converted(name, value); text != "" {
			return "[" + text + "]"
		}
		return ""
	case f.Type == "boolean" && isBool(value):
		return scalar(value)
	case f.Type == "": // a quantity: 1GB
		text, _ := value.(string)
		if amount, has := strings.CutSuffix(text, "B"); has {
			return amount
		}
		return scalar(value)
	}
	return ""
}

// oneOf returns the value of the field's that is probably meant.
func (f *Fields) oneOf(value any) string {
	text, is := value.(string)
	if !is {
		on, is := value.(bool)
		if !is {
			return ""
		}
		text = map[bool]string{true: "Enabled", false: "Disabled"}[on]
	}
	if synonym := closest(values[plain(text)], f.Enum); synonym != "" {
		return synonym
	}
	return closest(text, f.Enum)
}
