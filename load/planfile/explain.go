package planfile

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// places are where in a plan each type stands.
var places = map[string]struct {
	path string
	of   any
}{
	"file": {"the plan", file{}}, "load": {"load", load{}}, "request": {"a request", request{}},
	"connection": {"load.connection", connection{}}, "closed": {"load.closed", closed{}},
	"warmup": {"warmup", warmup{}}, "steadyState": {"warmup.steady", steadyState{}}, "tls": {"tls", tls{}},
}

var (
	unknownField = regexp.MustCompile(`^(line \d+): field (\S+) not found in type planfile\.(\w+)$`)
	wrongType    = regexp.MustCompile("(?s)^(line \\d+): cannot unmarshal (!!\\w+)( `.*`)? into (.+)$")
)

// kinds are what the types of values are called, for whoever writes YAML.
var kinds = map[string]string{"int": "a whole number", "int64": "a whole number", "string": "a text", "[]string": "a list of texts"}

// explain says an error of the decoder in words of the plan.
func explain(err error) error {
	var typed *yaml.TypeError
	if !errors.As(err, &typed) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var said []error
	for _, text := range typed.Errors {
		said = append(said, errors.New(translate(text)))
	}
	return errors.Join(said...)
}

func translate(text string) string {
	if m := unknownField.FindStringSubmatch(text); m != nil {
		place := places[m[3]]
		return fmt.Sprintf("%s: there is no field %s in %s: take some of %s", m[1], m[2], place.path, strings.Join(fields(reflect.TypeOf(place.of)), ", "))
	}
	if m := wrongType.FindStringSubmatch(text); m != nil {
		wanted, found := kinds[m[4]], strings.TrimSpace(m[3])
		if wanted == "" {
			wanted = "fields or a list of them"
		}
		if found == "" {
			found = "what stands there"
		}
		return fmt.Sprintf("%s: %s can't be used: give %s", m[1], found, wanted)
	}
	return text
}

// fields are the names of a type's fields in YAML.
func fields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if options == "inline" {
			names = append(names, fields(t.Field(i).Type)...)
			continue
		}
		names = append(names, name)
	}
	return names
}
