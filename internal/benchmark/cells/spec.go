package cells

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	strictjson "sigs.k8s.io/json"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// JSON returns the spec of the cell's runs: the template's with the changes of the cell's values, those
// of the first axis first. Of one value, fields are removed before others are set. Fields of the result
// need not exist in a BenchmarkRunSpec. Errors name the axis, its value and the path.
func (c *Cell) JSON(template *v1alpha1.BenchmarkRunSpec) ([]byte, error) {
	doc, err := json.Marshal(template)
	if err != nil {
		return nil, fmt.Errorf("encode template: %w", err)
	}
	for _, change := range c.changes {
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
	return c.decode(doc)
}

func (c *Cell) decode(doc []byte) (*v1alpha1.BenchmarkRunSpec, error) {
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

func (c *change) apply(doc []byte) ([]byte, error) {
	var err error
	for _, path := range c.remove {
		if doc, err = patch(doc, operation{Op: "remove", Path: path}); err != nil {
			return nil, fmt.Errorf("remove %s: %w", path, err)
		}
	}
	for _, field := range c.set {
		if field.Value == nil {
			return nil, fmt.Errorf("set %s: it has no value: use remove to remove a field", field.Path)
		}
		if doc, err = Set(doc, field.Path, field.Value.Raw); err != nil {
			return nil, fmt.Errorf("set %s: %w", field.Path, err)
		}
	}
	return doc, nil
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// pointer is the API's rule for JSON pointers (RFC 6901). It excludes empty names, which json-patch reads
// as the parent itself.
var pointer = regexp.MustCompile(`^(/([^~/]|~[01])+)+$`)

var errPointer = errors.New("it must be a JSON pointer, such as /load/closed/connections")

// patch applies operations to a document. A field to remove that doesn't exist is ignored.
func patch(doc []byte, operations ...operation) ([]byte, error) {
	for _, o := range operations {
		if !pointer.MatchString(o.Path) {
			return nil, errPointer
		}
	}
	encoded, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return nil, err
	}
	options := jsonpatch.NewApplyOptions()
	options.AllowMissingPathOnRemove = true
	options.SupportNegativeIndices = false
	return decoded.ApplyWithOptions(doc, options)
}

// Set sets the field at a path. Objects on the way to it that don't exist are created, and so is a list
// to whose end ("-") a value is added. An element of a list is replaced: a JSON patch's add would insert
// the value before it.
func Set(doc []byte, path string, value json.RawMessage) ([]byte, error) {
	if !pointer.MatchString(path) {
		return nil, errPointer
	}
	var node any
	if err := json.Unmarshal(doc, &node); err != nil {
		return nil, err
	}
	var operations []operation
	tokens := strings.Split(path, "/")
	for i := 1; i < len(tokens); i++ {
		last, at := i == len(tokens)-1, strings.Join(tokens[:i+1], "/")
		op := operation{Op: "add", Path: at, Value: value}
		child, exists, err := lookUp(node, tokens[i])
		switch _, isList := node.([]any); {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", strings.Join(tokens[:i], "/"), err)
		case last:
			if exists && isList {
				op.Op = "replace"
			}
		case child != nil:
			node = child
			continue
		case tokens[i+1] == "-":
			op.Value, child = json.RawMessage("[]"), []any{}
		default:
			op.Value, child = json.RawMessage("{}"), map[string]any{}
		}
		if exists && !last { // it is null
			op.Op = "replace"
		}
		operations = append(operations, op)
		node = child
	}
	return patch(doc, operations...)
}

// lookUp returns what an object or a list has at a token of a JSON pointer (RFC 6901), and whether it
// exists. It returns an error if it can't be added either.
func lookUp(node any, token string) (child any, exists bool, err error) {
	switch node := node.(type) {
	case map[string]any:
		child, exists = node[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		return child, exists, nil
	case []any:
		if token == "-" {
			return nil, false, nil
		}
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i > len(node) || strconv.Itoa(i) != token {
			return nil, false, fmt.Errorf("it is a list of %d elements, and %q none of its positions: use 0 to %d, or - to add one", len(node), token, len(node))
		}
		if i == len(node) {
			return nil, false, nil
		}
		return node[i], true, nil
	default:
		return nil, false, errors.New("it is neither an object nor a list")
	}
}
