package planfile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/assay-dev/assay/internal/hint"
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
	var fields hint.Fields
	if err := json.Unmarshal(schemaJSON, &fields); err != nil {
		return fmt.Errorf("fields of plans: %w", err)
	}
	for _, p := range plan.Check(values) {
		message := p.Message
		if p.Unknown {
			message += "; " + fields.Unknown(p.Path, p.Value, values)
		} else if text := fields.Value(p.Path, p.Value); p.Value != nil && text != "" {
			message += "; " + text
		}
		c.reject(p.Path, "%s", message)
	}
	return nil
}
