package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/internal/hint"
)

// Object is an object in a file.
type Object struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Problems are what is wrong with it.
	Problems []Problem `json:"problems"`
	// Rendered is what the target of a run consists of; of a Benchmark, those of its cells that differ.
	Rendered []Rendered `json:"rendered,omitempty"`

	fields map[string]any
	// node has the lines of the document, or is nil if there is none; at is the path of the object in it: items[0] for one in a List.
	node *yaml.Node
	at   string
}

// add adds problems with their lines.
func (o *Object) add(problems ...Problem) {
	for _, p := range problems {
		if o.node != nil {
			p.Line = hint.Line(o.node, o.at+"."+p.Path)
		}
		o.Problems = append(o.Problems, p)
	}
}

// files returns the names of the files that are meant by a name on the command line, and of those in a directory.
func files(name string, recursive bool) (all []string, err error) {
	info, err := os.Stat(name)
	if name == "-" || err == nil && !info.IsDir() {
		return []string{name}, nil
	}
	if err != nil {
		return nil, err
	}
	return all, filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			all = append(all, path)
		}
		return nil
	})
}

// maxFileBytes bounds what is read of a file: objects of the API are far smaller.
const maxFileBytes = 64 << 20

func readFile(name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		stdin = file
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s: it has more than %d bytes", name, maxFileBytes)
	}
	return text, err
}

// separator begins a document.
var separator = regexp.MustCompile(`(?m)^---[ \t\r]*(#.*)?$`)

// objectsIn returns the objects in the documents of a file. A document that isn't YAML is one with a problem.
func objectsIn(file string, text []byte) (all []*Object) {
	ends := append(separator.FindAllIndex(text, -1), []int{len(text), len(text)})
	begin := 0
	for _, end := range ends {
		// Lines before the document become empty, so that those in messages are the file's.
		lines := bytes.Count(text[:begin], []byte("\n"))
		document := append(bytes.Repeat([]byte("\n"), lines), text[begin:end[0]]...)
		begin = end[1]
		objects, err := objectsOf(file, document)
		if err != nil {
			message := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
			objects = []*Object{{File: file, Line: lines + 1, Problems: []Problem{{Message: message}}}}
		}
		all = append(all, objects...)
	}
	return all
}

// objectsOf returns the objects of a document: one, those of a List, or none if it is empty.
func objectsOf(file string, text []byte) (all []*Object, err error) {
	node := &yaml.Node{}
	if err := yaml.Unmarshal(text, node); err != nil || len(node.Content) == 0 {
		return nil, err
	}
	encoded, err := sigsyaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var value any
	if err := utiljson.Unmarshal(encoded, &value); err != nil || value == nil {
		return nil, err
	}
	fields, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("line %d: it has no apiVersion and kind", node.Content[0].Line)
	}
	items, _ := fields["items"].([]any)
	if kind, _ := fields["kind"].(string); !strings.HasSuffix(kind, "List") || items == nil {
		return []*Object{newObject(file, "", fields, node)}, nil
	}
	for i, item := range items {
		if fields, is := item.(map[string]any); is {
			all = append(all, newObject(file, fmt.Sprintf("items[%d]", i), fields, node))
		}
	}
	return all, nil
}

func newObject(file, at string, fields map[string]any, node *yaml.Node) *Object {
	o := &Object{File: file, Line: hint.Line(node, at), Problems: []Problem{}, fields: fields, node: node, at: at}
	o.Kind, _ = fields["kind"].(string)
	metadata, _ := fields["metadata"].(map[string]any)
	o.Name, _ = metadata["name"].(string)
	return o
}

// isAssays reports whether an object is, or is meant to be, one of the kinds that are checked.
func (o *Object) isAssays() bool {
	version, _ := o.fields["apiVersion"].(string)
	return strings.HasPrefix(version, group+"/") || slices.ContainsFunc(kinds(), func(kind string) bool { return strings.EqualFold(kind, o.Kind) })
}

// configMap returns the ConfigMap that an object is, or nil.
func (o *Object) configMap() *corev1.ConfigMap {
	if o.Kind != "ConfigMap" || o.fields["apiVersion"] != "v1" {
		return nil
	}
	encoded, err := utiljson.Marshal(o.fields)
	config := &corev1.ConfigMap{}
	if errors.Join(err, utiljson.Unmarshal(encoded, config)) != nil {
		return nil
	}
	return config
}
