package cells

import (
	"encoding/json"
	"fmt"

	strictjson "sigs.k8s.io/json"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// JSON returns the spec of the cell's runs: the template's with the changes of the cell's values, those
// of the first axis first. Of one value, fields are removed before others are set. Fields of the result
// need not exist in a BenchmarkRunSpec. Errors name the axis, its value and the path.
func (c *Cell) JSON(template *v1alpha1.BenchmarkRunSpec) ([]byte, error) {
	doc, err := c.document(template)
	if err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// document is JSON, but decoded: of many changes, each costs what it changes.
func (c *Cell) document(template *v1alpha1.BenchmarkRunSpec) (doc any, err error) {
	encoded, err := json.Marshal(template)
	if err == nil {
		doc, err = decode(encoded)
	}
	if err != nil {
		return nil, fmt.Errorf("encode template: %w", err)
	}
	for i := range c.changes {
		change := &c.changes[i]
		if doc, err = change.apply(doc); err != nil {
			return nil, fmt.Errorf("cell %s: axis %s, value %s: %w", c.Name, change.axis, change.option, err)
		}
	}
	return doc, nil
}

// Spec returns the spec of the cell's runs as JSON does. Errors also name the first field that doesn't
// exist or has a value of another type.
func (c *Cell) Spec(template *v1alpha1.BenchmarkRunSpec) (*v1alpha1.BenchmarkRunSpec, error) {
	doc, err := c.JSON(template)
	if err != nil {
		return nil, err
	}
	var spec v1alpha1.BenchmarkRunSpec
	unknown, err := strictjson.UnmarshalStrict(doc, &spec)
	if err == nil && len(unknown) > 0 {
		err = unknown[0]
	}
	if err != nil {
		return nil, fmt.Errorf("cell %s: decode spec: %w", c.Name, err)
	}
	return &spec, nil
}

func (c *change) apply(doc any) (any, error) {
	var err error
	for _, path := range c.remove {
		if doc, err = remove(doc, path); err != nil {
			return nil, fmt.Errorf("remove %s: %w", path, err)
		}
	}
	for _, field := range c.set {
		if field.Value == nil {
			return nil, fmt.Errorf("set %s: it has no value: use remove to remove a field", field.Path)
		}
		value, err := decode(field.Value.Raw)
		if err == nil {
			doc, err = set(doc, field.Path, value)
		}
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", field.Path, err)
		}
	}
	return doc, nil
}
