package cells

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Whatever users write, set either returns an error or a document that has the value at the path.
func FuzzSet(f *testing.F) {
	for _, path := range []string{"/a", "/a/b/-", "/l/0", "/l/1/x", "/l/-/x", "/n/x/0", "/s/x", "/~1/~0", "/", "//", "/l/-1", "/l/+1", "/l/01", "a"} {
		f.Add(`{"target": {"image": "tomcat:9"}, "load": {"closed": {"connections": 8}}}`, path, "1")
		f.Add(`{"a": {}, "l": [1, null], "n": null, "s": "x"}`, path, `{"x": [null]}`)
	}
	f.Fuzz(func(t *testing.T, doc, path, value string) {
		var from map[string]any
		if json.Unmarshal([]byte(doc), &from) != nil || !json.Valid([]byte(value)) || !utf8.ValidString(path) {
			return
		}
		got, err := Set([]byte(doc), path, json.RawMessage(value))
		if err != nil {
			return
		}
		var node, want any
		if err := json.Unmarshal(got, &node); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal([]byte(value), &want); err != nil {
			t.Fatal(err)
		}
		for _, token := range strings.Split(path, "/")[1:] {
			list, isList := node.([]any)
			if isList && token == "-" {
				node = list[len(list)-1]
				continue
			}
			child, exists, err := lookUp(node, token)
			if err != nil || !exists {
				t.Fatalf("%s has nothing at %s: %v", got, path, err)
			}
			node = child
		}
		if diff := cmp.Diff(want, node); diff != "" {
			t.Errorf("%s at %s: (-want +got)\n%s", got, path, diff)
		}
	})
}
