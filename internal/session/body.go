package session

import (
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// maxParts bounds the objects, lists and elements of them in one value, maxDepth how deep they are nested. An empty
	// object takes 3 bytes in a message but more than a hundred in memory. Totals have some thousands of parts.
	maxParts = 10_000
	maxDepth = 12
)

// Encode returns a value as it is sent in a field of bytes: as JSON.
func Encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return data, nil
}

// decode returns the value that Encode was called with. name begins the errors. It rejects what has more than limit
// bytes, too many parts, or what check rejects. It ignores fields that the type doesn't have.
func decode[T any](name string, data []byte, limit int, check func(*T) error) (*T, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("no %s", name)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s of %d bytes", name, len(data))
	}
	v := new(T)
	err := checkParts(data)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err == nil {
		err = check(v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// checkParts returns an error for JSON with more than maxParts or maxDepth. It doesn't check the syntax.
func checkParts(data []byte) error {
	parts, depth := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			parts++
			if depth++; depth > maxDepth {
				return errors.New("it is nested too deep")
			}
		case '}', ']':
			depth--
		case ',':
			parts++
		}
		if parts > maxParts {
			return fmt.Errorf("more than %d parts", maxParts)
		}
	}
	return nil
}
