package hint

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Line returns the line of the value at a path such as load.requests[0].path, or of the last value on the way to it.
func Line(document *yaml.Node, path string) int {
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
