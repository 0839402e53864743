// Package reports holds the published reports as resources: see docs/reports.
package reports

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed */*/*.yaml
var files embed.FS

// Names returns the names of all files in alphabetical order: "r1/original/r1-test1".
func Names() []string {
	var names []string
	_ = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, _ error) error { // the files are embedded: it can't fail
		if name, is := strings.CutSuffix(file, ".yaml"); is && !entry.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// Read returns a file as YAML, or false if there is none of that name.
func Read(name string) (string, bool) {
	text, err := fs.ReadFile(files, name+".yaml")
	return string(text), err == nil
}
