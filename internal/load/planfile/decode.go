package planfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	strict "sigs.k8s.io/json"
)

// decode reads a plan. It converts the plan to JSON, because the API's types have JSON names only.
func decode(data []byte) (*file, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, errors.New("the plan is empty: set at least url and load")
	} else if err != nil {
		return nil, withoutPrefix(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("the plan has more than one document: use a file for each")
	}
	var values map[string]any
	if err := document.Decode(&values); err != nil {
		return nil, withoutPrefix(err)
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	var f file
	unknown, err := strict.UnmarshalStrict(text, &f, strict.DisallowUnknownFields)
	if err != nil {
		return nil, explain(&document, err)
	}
	for i, err := range unknown {
		unknown[i] = explain(&document, err)
	}
	return &f, errors.Join(unknown...)
}

func withoutPrefix(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

// explain returns an error of the JSON decoder with its line and what is right.
func explain(document *yaml.Node, err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		node, line := find(document, typed.Field)
		value := typed.Value
		if node != nil && node.Kind == yaml.ScalarNode {
			value = strconv.Quote(node.Value)
		}
		return fmt.Errorf("line %d: %s: must be %s, not %s", line, typed.Field, describe(typed.Type), value)
	}
	quoted, is := strings.CutPrefix(err.Error(), "unknown field ")
	path, unquoteErr := strconv.Unquote(quoted)
	if !is || unquoteErr != nil {
		return err
	}
	_, line := find(document, path)
	parent, name := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, name = path[:i], path[i+1:]
	}
	return fmt.Errorf("line %d: unknown field %q in %s; the fields are %s", line, name, cmp.Or(parent, "the plan"), fields(parent))
}

// describe returns what values of a type are called in YAML.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number that isn't too large"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	}
	return "a mapping"
}

// steps returns the names and indices in a path such as load.requests[0].path.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// find returns the node at a path, or nil if there is none, and the line of the last node on the way
// to it.
func find(document *yaml.Node, path string) (node *yaml.Node, line int) {
	node = document.Content[0]
	line = node.Line
	for _, step := range steps(path) {
		var next *yaml.Node
		switch i, err := strconv.Atoi(step); {
		case err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content):
			next, line = node.Content[i], node.Content[i].Line
		case node.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == step {
					next, line = node.Content[i+1], node.Content[i].Line
				}
			}
		}
		if node = next; node == nil {
			break
		}
	}
	return node, line
}

// fields returns the names of the fields at a path.
func fields(path string) string {
	t := reflect.TypeFor[file]()
	for _, step := range steps(path) {
		if t.Kind() == reflect.Slice {
			t = t.Elem()
			continue
		}
		for f := range t.Fields() {
			if nameOf(f) == step {
				t = f.Type
			}
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	var names []string
	for f := range t.Fields() {
		names = append(names, nameOf(f))
	}
	return strings.Join(names, ", ")
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
