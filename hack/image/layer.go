package main

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// piece is a file or directory of this machine and its path in the image. mode is the mode of a file.
type piece struct {
	source string
	target string
	mode   int64
}

// parseLayer parses comma-separated SOURCE=TARGET[:MODE] pairs, which form one layer.
func parseLayer(text string) ([]piece, error) {
	var pieces []piece
	for pair := range strings.SplitSeq(text, ",") {
		source, target, ok := strings.Cut(pair, "=")
		target, octal, hasMode := strings.Cut(target, ":")
		mode, err := strconv.ParseInt(octal, 8, 64)
		if !hasMode {
			mode, err = 0o755, nil
		}
		if !ok || source == "" || !path.IsAbs(target) || err != nil {
			return nil, fmt.Errorf("layer %q: must be SOURCE=/TARGET[:MODE][,SOURCE=/TARGET[:MODE]...]", pair)
		}
		pieces = append(pieces, piece{source: source, target: path.Clean(target), mode: mode})
	}
	return pieces, nil
}

// epoch is the modification time of all files in images, so that digests depend on content alone.
var epoch = time.Unix(0, 0).UTC()

// writeLayer writes the pieces as a tar archive whose entries belong to root. A
// single file gets the piece's mode; files in a directory keep theirs. Those of a directory other than a root file system can be
// read, and programs and directories entered, by any user, whatever the umask they were made under: a cluster may choose
// the user. Devices and sockets are skipped: the container runtime provides them.
func writeLayer(out io.Writer, pieces []piece) error {
	archive := tar.NewWriter(out)
	made := map[string]bool{"/": true}
	for _, p := range pieces {
		info, err := os.Stat(p.source)
		if err != nil {
			return err
		}
		if err := addParents(archive, path.Dir(p.target), made); err != nil {
			return err
		}
		if info.IsDir() {
			err = addTree(archive, p, made)
		} else {
			err = add(archive, p, info, p.mode, 0)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// openLayer returns a reader of what writeLayer writes.
func openLayer(pieces []piece) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(writeLayer(writer, pieces)) }()
	return reader
}

func addParents(archive *tar.Writer, dir string, made map[string]bool) error {
	if made[dir] {
		return nil
	}
	if err := addParents(archive, path.Dir(dir), made); err != nil {
		return err
	}
	made[dir] = true
	return archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755, ModTime: epoch,
	})
}

// add adds a file, directory or symbolic link. A mode of 0 keeps its own, to which shared is added.
func add(archive *tar.Writer, p piece, info fs.FileInfo, mode, shared int64) error {
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if link, err = os.Readlink(p.source); err != nil {
			return err
		}
	}
	own, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header := &tar.Header{
		Typeflag: own.Typeflag, Name: strings.TrimPrefix(p.target, "/"), Linkname: link,
		Size: own.Size, Mode: cmp.Or(mode, own.Mode) | shared, ModTime: epoch,
	}
	if info.IsDir() {
		header.Name += "/"
	}
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return copyFile(archive, p.source)
}

func copyFile(out io.Writer, source string) error {
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(out, file)
	return err
}

func addTree(archive *tar.Writer, tree piece, made map[string]bool) error {
	return filepath.WalkDir(tree.source, func(source string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(tree.source, source)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := path.Join(tree.target, filepath.ToSlash(below))
		switch mode := info.Mode(); {
		case mode.IsDir() && made[target], !mode.IsDir() && !mode.IsRegular() && mode&fs.ModeSymlink == 0:
			return nil
		case mode.IsDir():
			made[target] = true
		}
		shared := int64(0)
		if tree.target != "/" && info.Mode()&fs.ModeSymlink == 0 {
			shared = 0o444
			if info.Mode()&0o100 != 0 {
				shared = 0o555
			}
		}
		return add(archive, piece{source: source, target: target}, info, 0, shared)
	})
}

// describe writes a description of the pieces that changes when they do. It contains the content of
// single files. For files in directories it contains names, sizes, modes and times, which suffices
// for directories that are unpacked once.
func describe(out io.Writer, pieces []piece) error {
	for _, p := range pieces {
		info, err := os.Stat(p.source)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: not found", p.source)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "piece", p.target)
		if !info.IsDir() {
			if err := copyFile(out, p.source); err != nil {
				return err
			}
			continue
		}
		err = filepath.WalkDir(p.source, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			fmt.Fprintln(out, name, info.Size(), info.Mode(), info.ModTime().UnixNano())
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layer is an uncompressed layer that is generated each time it is read. Archives
// stay on one machine, where compression costs more time than it saves.
type layer struct {
	pieces []piece
	digest v1.Hash
	size   int64
}

func newLayer(pieces []piece) (v1.Layer, error) {
	digest, size, err := v1.SHA256(openLayer(pieces))
	if err != nil {
		return nil, fmt.Errorf("layer: %w", err)
	}
	return &layer{pieces: pieces, digest: digest, size: size}, nil
}

func (l *layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) Size() (int64, error)                 { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return openLayer(l.pieces), nil }
func (l *layer) Compressed() (io.ReadCloser, error)   { return openLayer(l.pieces), nil }
