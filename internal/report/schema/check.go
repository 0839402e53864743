package schema

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile returns a function that returns an error unless a document is valid by a JSON schema.
func Compile(schema []byte) (check func(document []byte) error, err error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	if err := compiler.AddResource("schema.json", decoded); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return func(document []byte) error {
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return fmt.Errorf("decode document: %w", err)
		}
		return compiled.Validate(instance)
	}, nil
}
