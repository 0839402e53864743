// Package agent is what runs beside a server in the target's pod: it writes the
// files that the server serves, asks it whether it is ready, and reads what its
// processes use.
package agent

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"strings"
)

// File is a file to be written.
type File struct {
	// Path is its path below the content's folder, with a slash before it.
	Path string `json:"path"`
	// SizeBytes is its size.
	SizeBytes int64 `json:"sizeBytes"`
}

const writeBuffer = 256 << 10

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

// WriteContent writes files into a folder, in place of files that are there. A
// path that leads out of the folder is an error. The bytes of a file depend on
// its path alone, and don't compress.
func WriteContent(folder string, files []File) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open the content's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, file := range files {
		if err := write(root, file); err != nil {
			return fmt.Errorf("write content %s: %w", file.Path, err)
		}
	}
	return nil
}

func write(root *os.Root, file File) error {
	name := strings.TrimPrefix(file.Path, "/")
	if parent := path.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(out, writeBuffer)
	_, err = io.CopyN(buffered, rand.NewChaCha8(sha256.Sum256([]byte(file.Path))), file.SizeBytes)
	if flushErr := buffered.Flush(); err == nil {
		err = flushErr
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}
