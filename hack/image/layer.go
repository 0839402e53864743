package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// piece is a file or directory of this machine and its path in the image.
type piece struct {
	source string
	target string
}

// parseLayer parses comma-separated SOURCE=TARGET pairs, which form one layer.
func parseLayer(text string) ([]piece, error) {
	var pieces []piece
	for pair := range strings.SplitSeq(text, ",") {
		source, target, ok := strings.Cut(pair, "=")
		if !ok || source == "" || !path.IsAbs(target) {
			return nil, fmt.Errorf("layer %q: must be SOURCE=/TARGET[,SOURCE=/TARGET...]", pair)
		}
		pieces = append(pieces, piece{source: source, target: path.Clean(target)})
	}
	return pieces, nil
}

// epoch is the modification time of all files in images, so that digests depend on content alone.
var epoch = time.Unix(0, 0).UTC()

// writeLayer writes the pieces as a tar archive whose entries belong to root. A
// single file becomes executable; files in a directory keep their modes. Devices
// and sockets are skipped: the container runtime provides them.
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
		if !info.IsDir() {
			if err := addFile(archive, p.source, p.target, info.Size(), 0o755); err != nil {
				return err
			}
			continue
		}
		if err := addTree(archive, p, made); err != nil {
			return err
		}
	}
	return archive.Close()
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

func addFile(archive *tar.Writer, source, target string, size int64, mode int64) error {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: strings.TrimPrefix(target, "/"), Size: size, Mode: mode, ModTime: epoch,
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(archive, file)
	return err
}

func addTree(archive *tar.Writer, p piece, made map[string]bool) error {
	return filepath.WalkDir(p.source, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(p.source, name)
		if err != nil {
			return err
		}
		target := path.Join(p.target, filepath.ToSlash(below))
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			if made[target] {
				return nil
			}
			made[target] = true
			return archive.WriteHeader(&tar.Header{
				Typeflag: tar.TypeDir, Name: strings.TrimPrefix(target, "/") + "/", Mode: unixMode(info.Mode()), ModTime: epoch,
			})
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return archive.WriteHeader(&tar.Header{
				Typeflag: tar.TypeSymlink, Name: strings.TrimPrefix(target, "/"), Linkname: link, Mode: 0o777, ModTime: epoch,
			})
		case info.Mode().IsRegular():
			return addFile(archive, name, target, info.Size(), unixMode(info.Mode()))
		}
		return nil
	})
}

// unixMode converts the mode to that of chmod(2).
func unixMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
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
			file, err := os.Open(p.source)
			if err != nil {
				return err
			}
			_, err = io.Copy(out, file)
			file.Close()
			if err != nil {
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
