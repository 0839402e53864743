package planfile

import (
	"bytes"
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

// decode reads a plan. What stands in it goes through JSON, whose names the
// API's types have; the YAML tells the lines.
func decode(data []byte) (*file, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it's empty: give at least url and load")
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document in it: give each a file of its own")
	}
	var values map[string]any
	if err := document.Decode(&values); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
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

// explain says an error of the decoder with its line and what would be right.
func explain(document *yaml.Node, err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		value := typed.Value
		if node, _ := find(document, typed.Field); node != nil && node.Kind == yaml.ScalarNode {
			value = strconv.Quote(node.Value)
		}
		return fmt.Errorf("%s%s: %s can't be used: give %s", line(document, typed.Field), typed.Field, value, wanted(typed.Type))
	}
	if path, is := strings.CutPrefix(err.Error(), "unknown field "); is {
		if name, err := strconv.Unquote(path); err == nil {
			path = name
		}
		parent, name := cutLast(path)
		place := parent
		if place == "" {
			place = "the plan"
		}
		return fmt.Errorf("%sthere is no field %s in %s: take some of %s", line(document, path), name, place, fields(parent))
	}
	return err
}

func cutLast(path string) (parent, name string) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

// wanted is what a type's values are called, for whoever writes YAML.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number that isn't too large"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	}
	return "fields"
}

// steps are the names and indices of a path such as load.requests[0].path.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// line is where a path stands, to begin a message with; empty when it isn't found.
func line(document *yaml.Node, path string) string {
	if _, at := find(document, path); at > 0 {
		return fmt.Sprintf("line %d: ", at)
	}
	return ""
}

// find returns what stands at a path, nil when there is nothing, and the line of
// what there is of the path.
func find(document *yaml.Node, path string) (node *yaml.Node, at int) {
	node = document.Content[0]
	for _, step := range steps(path) {
		var next *yaml.Node
		switch i, err := strconv.Atoi(step); {
		case err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content):
			next, at = node.Content[i], node.Content[i].Line
		case node.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == step {
					next, at = node.Content[i+1], node.Content[i].Line
				}
			}
		}
		if node = next; node == nil {
			return nil, at
		}
	}
	return node, at
}

// fields are the names of the fields that there are at a path.
func fields(path string) string {
	t := reflect.TypeFor[file]()
	for _, step := range steps(path) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Slice {
			t = t.Elem()
			continue
		}
		for i := range t.NumField() {
			if nameOf(t.Field(i)) == step {
				t = t.Field(i).Type
				break
			}
		}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	for i := range t.NumField() {
		names = append(names, nameOf(t.Field(i)))
	}
	return strings.Join(names, ", ")
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
