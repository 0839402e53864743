package cells

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
)

// axis is one thing that varies. Its plain values are options that set one field.
type axis struct {
	name    string
	options []change
}

// change holds the changes of the template's spec by one value of an axis.
type change struct {
	axis, option string
	remove       []string
	set          []v1alpha1.FieldValue
}

func newAxis(from *v1alpha1.Axis) (axis, error) {
	a := axis{name: from.Name}
	known := map[string]int{} // position by name, and by canonical JSON
	for i := range from.Values {
		value := &from.Values[i]
		name, canonical, err := nameOf(value.Raw, i)
		if err != nil {
			return axis{}, fmt.Errorf("values[%d]: %w", i, err)
		}
		for _, key := range []string{"name " + name, "value " + canonical} {
			if first, ok := known[key]; ok {
				return axis{}, fmt.Errorf("values[%d]: it repeats values[%d], %s: use each value once", i, first, a.options[first].option)
			}
			known[key] = i
		}
		a.options = append(a.options, change{axis: a.name, option: name, set: []v1alpha1.FieldValue{{Path: from.Path, Value: value}}})
	}
	for i, o := range from.Options {
		if first, ok := known[o.Name]; ok {
			return axis{}, fmt.Errorf("options[%d]: it repeats the name of options[%d], %s: use each name once", i, first, o.Name)
		}
		known[o.Name] = i
		a.options = append(a.options, change{axis: a.name, option: o.Name, remove: o.Remove, set: o.Set})
	}
	if len(a.options) == 0 {
		return axis{}, errors.New("it has no values: set values or options")
	}
	return a, nil
}

// maxValueName is the longest name of a value, in bytes, as that of an option.
const maxValueName = 63

// nameOf returns the name of a plain value, and its JSON in a form in which equal values are equal. The
// name is the value as a string. Objects and lists have their position as name, counted from 1, as in
// "#2", and so have strings that are empty, longer than 63 bytes, not printable or have a comma, which
// separates the values in the name of a cell.
func nameOf(raw []byte, index int) (name, canonical string, err error) {
	value, err := decode(raw)
	if err != nil {
		return "", "", fmt.Errorf("invalid JSON: %w", err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", "", err
	}
	canonical = string(encoded)
	switch value := value.(type) {
	case string:
		name = value
	case json.Number:
		name = canonicalNumber(value)
		canonical = name
	case bool, nil:
		name = canonical
	}
	if name == "" || len(name) > maxValueName || strings.Contains(name, ",") || printable.Text(name) != name {
		name = "#" + strconv.Itoa(index+1)
	}
	return name, canonical, nil
}

// canonicalNumber returns the same text for 25, 25.0 and 2.5e1.
func canonicalNumber(n json.Number) string {
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return n.String()
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
