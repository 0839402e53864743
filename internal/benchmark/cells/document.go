package cells

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// decode returns decoded JSON with its numbers as they are written.
func decode(encoded []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// Set sets the field of a document at a path.
func Set(doc []byte, path string, value any) ([]byte, error) {
	decoded, err := decode(doc)
	if err != nil {
		return nil, err
	}
	if decoded, err = set(decoded, path, value); err != nil {
		return nil, err
	}
	return json.Marshal(decoded)
}

// pointer is the API's rule for JSON pointers (RFC 6901). It excludes empty names.
var pointer = regexp.MustCompile(`^(/([^~/]|~[01])+)+$`)

var errPointer = errors.New("it must be a JSON pointer, such as /load/closed/connections")

// set sets the field at a path. Objects on the way to it that don't exist are created, and so is a list
// to whose end ("-") a value is added. An element of a list is replaced.
func set(doc any, path string, value any) (any, error) {
	if !pointer.MatchString(path) {
		return nil, errPointer
	}
	return setAt(doc, path, 0, value)
}

// setAt sets the field at a path, of which the first bytes, at, lead to node.
func setAt(node any, path string, at int, value any) (any, error) {
	token, rest, more := strings.Cut(path[at+1:], "/")
	child, _, err := lookUp(node, token)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path[:at], err)
	}
	switch {
	case !more:
		child = value
	case child == nil && (rest == "-" || strings.HasPrefix(rest, "-/")):
		child = []any{}
	case child == nil:
		child = map[string]any{}
	}
	if more {
		if child, err = setAt(child, path, at+1+len(token), value); err != nil {
			return nil, err
		}
	}
	switch node := node.(type) {
	case map[string]any:
		node[unescaped(token)] = child
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i < len(node) {
			node[i] = child
		} else {
			return append(node, child), nil
		}
	}
	return node, nil
}

// remove removes the field at a path, if it exists.
func remove(doc any, path string) (any, error) {
	if !pointer.MatchString(path) {
		return nil, errPointer
	}
	return removeAt(doc, path[1:]), nil
}

func removeAt(node any, path string) any {
	token, rest, more := strings.Cut(path, "/")
	child, exists, err := lookUp(node, token)
	if err != nil || !exists {
		return node
	}
	if more {
		child = removeAt(child, rest)
	}
	switch node := node.(type) {
	case map[string]any:
		if more {
			node[unescaped(token)] = child
		} else {
			delete(node, unescaped(token))
		}
	case []any:
		i, _ := strconv.Atoi(token) // it exists
		if !more {
			return slices.Delete(node, i, i+1)
		}
		node[i] = child
	}
	return node
}

// lookUp returns what an object or a list has at a token of a JSON pointer (RFC 6901), and whether it
// exists. It returns an error if it can't be added either.
func lookUp(node any, token string) (child any, exists bool, err error) {
	switch node := node.(type) {
	case map[string]any:
		child, exists = node[unescaped(token)]
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

var escapes = strings.NewReplacer("~1", "/", "~0", "~")

func unescaped(token string) string { return escapes.Replace(token) }
