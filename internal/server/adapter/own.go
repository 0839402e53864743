package adapter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Own is what a configuration of the user's own does to a server. Its zero value changes nothing.
type Own struct {
	// Replaced reports whether one of the files replaces the rendered one.
	Replaced bool `json:",omitempty"`
	// Files are the names of the files in alphabetical order.
	Files []string `json:",omitempty"`
	// Fields are those of the server whose settings the files have, for all that it serves or a part of it. It is
	// unknown if the file is replaced.
	Fields []string `json:",omitempty"`
}

// Changes reports whether the files replace the rendered one, or set what one of the fields does.
func (o *Own) Changes(fields ...string) bool {
	return o != nil && (o.Replaced || slices.ContainsFunc(fields, func(f string) bool { return slices.ContainsFunc(o.Fields, within(f)) }))
}

// within returns whether a field is another or has it.
func within(field string) func(other string) bool {
	return func(other string) bool { return field == other || strings.HasPrefix(field, other+".") }
}

// Changed is Own.Changes, or true if it isn't known what the user's own configuration does.
func (in *Input) Changed(own *v1alpha1.Configuration, fields ...string) bool {
	return own != nil && (in.Own == nil || in.Own.Changes(fields...))
}

// FileRules say what the files of a user's own configuration can do.
type FileRules struct {
	// Kind is the name of the server in the spec, such as nginx.
	Kind string
	// Main is the name of the file that replaces the rendered one. Kept are the fields that have an effect
	// even then, besides configuration itself.
	Main string
	Kept []string
	// Fields maps what Settings returns to the fields that set the same. Those of TLS begin with "tls.".
	Fields map[string][]string
	// Settings returns the names of what an included file sets. It is nil if no such file sets what a field does.
	Settings func(in *Input, file string) ([]Setting, error)
}

// Setting is what a line of a configuration file sets.
type Setting struct {
	// Name is the setting's name, Part reports whether it holds for a part of what the server serves alone.
	Name string
	Part bool
}

// ReadOwn reads the user's own configuration. It returns an error with the remedy if a field that is
// set has no effect: it would be reported as measured.
func (in *Input) ReadOwn(rules *FileRules) error {
	if rules == nil || in.Files == nil {
		return nil
	}
	in.Own = &Own{Files: in.FileNames()}
	kind := rules.Kind
	configuration := in.Field(kind + ".configuration")
	declared := fieldsOf(in.Server)
	if _, in.Own.Replaced = in.Files[rules.Main]; in.Own.Replaced {
		var dead []string
		for _, field := range declared {
			name := strings.TrimPrefix(field, kind+".")
			if !strings.HasPrefix(name, "configuration.") && !slices.Contains(rules.Kept, name) {
				dead = append(dead, in.Field(field))
			}
		}
		if len(dead) > 0 {
			return fmt.Errorf("%s: %s of the ConfigMap replaces the rendered file, so that these fields have no effect: %s. "+
				"Omit them and set the same in %s, or leave out %s and set what has no field in files that are included", configuration, rules.Main, strings.Join(dead, ", "), rules.Main, rules.Main)
		}
		return nil
	}
	if rules.Settings == nil {
		return nil
	}
	if in.TLS != nil {
		declared = append(declared, fieldsOf(map[string]any{"tls": in.TLS})...)
	}
	for _, file := range in.Own.Files {
		settings, err := rules.Settings(in, file)
		if err != nil {
			return fmt.Errorf("%s: %w", configuration, err)
		}
		for _, s := range settings {
			for _, field := range rules.Fields[s.Name] {
				path := kind + "." + field
				if strings.HasPrefix(field, "tls.") {
					path = field
				}
				if at := slices.IndexFunc(declared, func(f string) bool { return within(f)(path) }); at >= 0 && !s.Part {
					return fmt.Errorf("%s is set, and %s in %s of the ConfigMap as well: remove one of them", in.Field(declared[at]), s.Name, file)
				}
				if !slices.Contains(in.Own.Fields, field) {
					in.Own.Fields = append(in.Own.Fields, field)
				}
			}
		}
	}
	return nil
}

// fieldsOf returns the paths of the fields that are set, sorted. An array is one.
func fieldsOf(value any) []string {
	var fields []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		object, ok := value.(map[string]any)
		if !ok {
			fields = append(fields, strings.TrimPrefix(path, "."))
			return
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			walk(path+"."+name, object[name])
		}
	}
	var decoded any
	encoded, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(encoded, &decoded)
	}
	if err != nil {
		panic(err) // never: these are types of the API
	}
	walk("", decoded)
	return fields
}
