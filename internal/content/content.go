// Package content writes the files that a target serves. The manager lists them, the agent writes
// them into a volume before the server starts.
package content

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
)

// seed determines the bytes of generated files. Another seed would make results incomparable with
// those of other versions.
const seed = "assay content 1\x00"

// File is a file that the server serves.
type File struct {
	// Path is its path below the content's directory, with a leading slash.
	Path string `json:"path"`
	// SizeBytes is its size in bytes.
	SizeBytes int64 `json:"sizeBytes"`
	// Source is the path of a file to copy. If it is empty, the file is generated.
	Source string `json:"source,omitempty"`
}

// ReadList reads a list of files in JSON.
func ReadList(name string) ([]File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the list of content: %w", err)
	}
	var files []File
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("read the list of content %s: %w", name, err)
	}
	return files, nil
}

// Write writes files into a directory and replaces existing ones. A path that leads out of the
// directory is an error, and so is a source of another size. The bytes of a generated file depend
// only on its path, so that every run serves the same, and can't be compressed. A file exists
// completely or not at all.
func Write(directory string, files []File) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return fmt.Errorf("open the content's directory: %w", err)
	}
	defer root.Close()
	for _, file := range files {
		if err := write(root, file); err != nil {
			return fmt.Errorf("write content %s: %w", file.Path, err)
		}
	}
	return nil
}

func write(root *os.Root, file File) error {
	name := strings.TrimPrefix(file.Path, "/")
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("the path %q doesn't lead to a file in the directory", file.Path)
	}
	if file.SizeBytes < 0 {
		return fmt.Errorf("a size of %d bytes", file.SizeBytes)
	}
	directory, base := path.Split(name)
	if err := root.MkdirAll(path.Clean(directory), 0o755); err != nil {
		return err
	}
	unfinished := path.Join(directory, ".assay-"+base)
	out, err := root.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if err = errors.Join(fill(out, file), out.Close()); err == nil {
		err = root.Rename(unfinished, name)
	}
	if err != nil {
		_ = root.Remove(unfinished)
	}
	return err
}

// fill writes the bytes of a file.
func fill(out io.Writer, file File) error {
	if file.Source == "" {
		_, err := io.CopyN(out, bytesOf(file.Path), file.SizeBytes)
		return err
	}
	in, err := os.Open(file.Source)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	size, err := io.Copy(out, in)
	if err == nil && size != file.SizeBytes {
		err = fmt.Errorf("its source has %d bytes instead of %d", size, file.SizeBytes)
	}
	return err
}

// bytesOf returns an endless reader of the bytes of a generated file.
func bytesOf(name string) io.Reader {
	return rand.NewChaCha8(sha256.Sum256([]byte(seed + name)))
}
