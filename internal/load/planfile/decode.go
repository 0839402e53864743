package planfile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/assay-dev/assay/internal/schema"
)

// schemaJSON is the schema of plans. hack/crd makes it from that of a BenchmarkRun.
//
//go:embed schema.json
var schemaJSON []byte

// decode reads a plan. It returns the values as those of JSON, and their nodes, which know their lines.
func decode(data []byte) (values map[string]any, document *yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	document = &yaml.Node{}
	if err := decoder.Decode(document); errors.Is(err, io.EOF) {
		return nil, nil, errors.New("the plan is empty: set at least url and load")
	} else if err != nil {
		return nil, nil, withoutPrefix(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("the plan has more than one document: use a file for each")
	}
	if err := document.Decode(&values); err != nil {
		return nil, nil, withoutPrefix(err)
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, nil, err
	}
	values = nil
	return values, document, json.Unmarshal(text, &values)
}

func withoutPrefix(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

// check sets the defaults of values and rejects those that the API server would refuse in a BenchmarkRun.
func (c *converter) check(values map[string]any) error {
	var plan schema.Schema
	if err := json.Unmarshal(schemaJSON, &plan); err != nil {
		return fmt.Errorf("schema of plans: %w", err)
	}
	for _, p := range plan.Check(values) {
		c.reject(p.Path, "%s", p.Message)
	}
	return nil
}

// line returns the line of the value at a path such as load.requests[0].path, or of the last value on the way to it.
func line(document *yaml.Node, path string) int {
	node := document.Content[0]
	line := node.Line
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
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
	return line
}
