package schema

import (
	"cmp"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Rule is a rule of the API, an expression in CEL (https://github.com/google/cel-spec).
type Rule struct {
	// FieldPath is the path of the field that is wrong, from the value on, such as .client.streams.
	FieldPath string `json:"fieldPath,omitempty"`
	Message   string `json:"message"`
	// Expression is a literal or a call: a list of the function's name, as cel-go has it, and its arguments. Of the
	// macros the name is that in CEL; "." selects a field, "[]" makes a list, and "name" reads a variable.
	Expression any `json:"rule"`
}

// holds reports whether a rule holds. One that can't be evaluated, such as one that reads a field that isn't there,
// doesn't. Only what the API's rules use is known: the tests compare each with what the API server finds.
func (r *Rule) holds(self any) (holds bool) {
	defer func() {
		if recover() != nil {
			holds = false
		}
	}()
	return (&scope{name: "self", value: self}).eval(r.Expression).(bool)
}

// scope holds a variable, and those of the expressions around.
type scope struct {
	name  string
	value any
	outer *scope
}

// optional is what an optional field is: its value, or nil.
type optional struct{ value any }

// eval returns the value of an expression. It panics if there is none.
func (s *scope) eval(expression any) any {
	call, is := expression.([]any)
	if !is {
		return expression
	}
	function, args := call[0].(string), call[1:]
	switch function {
	case "name":
		for s.name != args[0] {
			s = s.outer
		}
		return s.value
	case "has":
		field := args[0].([]any)
		return s.eval(field[1]).(map[string]any)[field[2].(string)] != nil
	case "_&&_":
		return s.eval(args[0]).(bool) && s.eval(args[1]).(bool)
	case "_||_":
		return s.eval(args[0]).(bool) || s.eval(args[1]).(bool)
	case "_?_:_":
		if s.eval(args[0]).(bool) {
			return s.eval(args[1])
		}
		return s.eval(args[2])
	case "all", "exists", "exists_one":
		items, count := s.eval(args[0]).([]any), 0
		for _, item := range items {
			if (&scope{name: args[1].([]any)[1].(string), value: item, outer: s}).eval(args[2]).(bool) {
				count++
			}
		}
		return map[string]bool{"all": count == len(items), "exists": count > 0, "exists_one": count == 1}[function]
	}
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = s.eval(arg)
	}
	return functions[function](values)
}

// functions are the functions that evaluate all of their arguments, by their names in cel-go.
var functions = map[string]func(of []any) any{
	"[]": func(of []any) any { return of },
	".":  func(of []any) any { return selected(of[0], of[1].(string)) },
	"_?._": func(of []any) any {
		if m, is := of[0].(map[string]any); is {
			return optional{m[of[1].(string)]}
		}
		return selected(of[0].(optional), of[1].(string))
	},
	"orValue": func(of []any) any {
		if value := of[0].(optional).value; value != nil {
			return value
		}
		return of[1]
	},
	"hasValue": func(of []any) any { return of[0].(optional).value != nil },

	"!_":   func(of []any) any { return !of[0].(bool) },
	"_==_": func(of []any) any { return reflect.DeepEqual(of[0], of[1]) },
	"_!=_": func(of []any) any { return !reflect.DeepEqual(of[0], of[1]) },
	"_<_":  func(of []any) any { return compare(of) < 0 },
	"_<=_": func(of []any) any { return compare(of) <= 0 },
	"_>_":  func(of []any) any { return compare(of) > 0 },
	"_>=_": func(of []any) any { return compare(of) >= 0 },
	"_+_":  func(of []any) any { return of[0].(float64) + of[1].(float64) },
	"_*_":  func(of []any) any { return of[0].(float64) * of[1].(float64) },
	"_/_":  func(of []any) any { return of[0].(float64) / of[1].(float64) }, // of decimals
	"@in":  func(of []any) any { return slices.Contains(of[1].([]any), of[0]) },

	"matches":    func(of []any) any { return pattern(of[1].(string)).MatchString(of[0].(string)) },
	"startsWith": func(of []any) any { return strings.HasPrefix(of[0].(string), of[1].(string)) },
	"endsWith":   func(of []any) any { return strings.HasSuffix(of[0].(string), of[1].(string)) },
	"contains":   func(of []any) any { return strings.Contains(of[0].(string), of[1].(string)) },
	"lowerAscii": func(of []any) any { return strings.ToLower(of[0].(string)) },
	"replace":    func(of []any) any { return strings.ReplaceAll(of[0].(string), of[1].(string), of[2].(string)) },
	"lastIndexOf": func(of []any) any {
		return float64(strings.LastIndex(of[0].(string), of[1].(string)))
	},
	"substring": func(of []any) any { return of[0].(string)[int(of[1].(float64)):] },

	"int": func(of []any) any {
		if number, is := of[0].(float64); is {
			return math.Trunc(number)
		}
		return must(strconv.ParseFloat(of[0].(string), 64))
	},
	"double": func(of []any) any {
		if number, is := of[0].(float64); is {
			return number
		}
		return must(strconv.ParseFloat(of[0].(string), 64))
	},
	"duration": func(of []any) any { return must(time.ParseDuration(of[0].(string))) },
}

// selected returns a field of an object, or the optional field of an optional one.
func selected(of any, name string) any {
	if o, is := of.(optional); is {
		if o.value == nil {
			return o
		}
		return optional{o.value.(map[string]any)[name]}
	}
	value := of.(map[string]any)[name]
	if value == nil {
		panic("no such field: " + name)
	}
	return value
}

// compare compares two values of one type.
func compare(of []any) int {
	switch a := of[0].(type) {
	case string:
		return cmp.Compare(a, of[1].(string))
	case time.Duration:
		return cmp.Compare(a, of[1].(time.Duration))
	}
	return cmp.Compare(of[0].(float64), of[1].(float64))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// patterns has the regular expressions of rules that were evaluated, by their texts: a rule has many values.
var patterns sync.Map

func pattern(text string) *regexp.Regexp {
	if compiled, known := patterns.Load(text); known {
		return compiled.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	patterns.Store(text, compiled)
	return compiled
}
