// Package ab implements the verb "ab", which compares two variants of a server: it creates a Benchmark of them, follows its round and
// answers in one sentence.
package ab

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/internal/plugin/exit"
)

// axis is the name of the Benchmark's axis.
const axis = "variant"

// variant is A or B: the run of the manifest with changes.
type variant struct {
	// label says what it is.
	label string
	// remove and set are those of an option of an axis.
	remove, set []any
}

func (v *variant) option(name string) map[string]any {
	option := map[string]any{"name": name}
	if len(v.remove) > 0 {
		option["remove"] = v.remove
	}
	if len(v.set) > 0 {
		option["set"] = v.set
	}
	return option
}

func (v *variant) change(path string, value any) {
	v.set = append(v.set, map[string]any{"path": path, "value": value})
}

// ofImages returns the variants of two images.
func ofImages(a, b string) (of [2]variant, err error) {
	if a == b {
		return of, exit.Errorf(exit.Unknown, "both images are %s: use \"kubectl assay doctor --fit\" to see how much equal variants differ", a)
	}
	for i, image := range []string{a, b} {
		of[i].label = image
		of[i].change("/target/image", image)
	}
	return of, nil
}

// ofSpecs returns the variants of two manifests: B is A with the fields that differ.
func ofSpecs(files []string, a, b any) (of [2]variant, err error) {
	of[0].label, of[1].label = files[0], files[1]
	of[1].differ("", a, b)
	if len(of[1].remove)+len(of[1].set) == 0 {
		return of, exit.Errorf(exit.Unknown, "the specs in %s and %s don't differ: use \"kubectl assay doctor --fit\" to see how much equal variants differ", files[0], files[1])
	}
	return of, nil
}

// differ adds the changes at a JSON pointer that make b of a. A list that differs is replaced.
func (v *variant) differ(path string, a, b any) {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	if !isX || !isY {
		if !reflect.DeepEqual(a, b) {
			v.change(path, b)
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(x)) {
		at := path + "/" + escape.Replace(key)
		if value, has := y[key]; has {
			v.differ(at, x[key], value)
		} else {
			v.remove = append(v.remove, at)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(y)) {
		if _, has := x[key]; !has {
			v.change(path+"/"+escape.Replace(key), y[key])
		}
	}
}

// escape makes a step of a JSON pointer (RFC 6901).
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// field matches the path of a field, such as load.requests[0].path.
var field = regexp.MustCompile(`^\w+(\[\d+\])*(\.[\w-]+(\[\d+\])*)*$`)

// ofFields returns the variants of pairs of values, each as PATH=A,B: a path in the spec, and two values as in a list of YAML.
func ofFields(pairs []string) (of [2]variant, err error) {
	for _, pair := range pairs {
		path, text, found := strings.Cut(pair, "=")
		if !found || !field.MatchString(path) {
			return of, exit.Errorf(exit.Unknown, "--set %q: must be PATH=A,B with the path of a field in the spec, such as load.requests[0].path", pair)
		}
		values, err := list(text)
		switch {
		case err != nil:
			return of, exit.Errorf(exit.Unknown, "--set %q: the values must be as in a list of YAML: %w", pair, err)
		case len(values) != 2:
			return of, exit.Errorf(exit.Unknown, "--set %q: it has %d values, must have two: put quotes around a value that has a comma", pair, len(values))
		case reflect.DeepEqual(values[0], values[1]):
			return of, exit.Errorf(exit.Unknown, "--set %q: both values are the same", pair)
		}
		pointer := "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
		for i, value := range values {
			of[i].change(pointer, value)
			encoded, err := utiljson.Marshal(value)
			if err != nil {
				return of, fmt.Errorf("encode value of %s: %w", path, err)
			}
			if of[i].label != "" {
				of[i].label += ", "
			}
			of[i].label += path + "=" + strings.Trim(string(encoded), `"`)
		}
	}
	return of, nil
}

// list returns the elements of a list of YAML without its brackets.
func list(text string) (values []any, err error) {
	encoded, err := yaml.YAMLToJSON([]byte("[" + text + "]"))
	if err == nil {
		err = utiljson.Unmarshal(encoded, &values)
	}
	return values, err
}
