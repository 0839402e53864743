package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// zipEpoch is the modification time of all files in a zip archive, the earliest that the format has.
var zipEpoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func archiveCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "archive --output {FILE.tar.gz | FILE.zip} SOURCE=/TARGET[:MODE][,...]",
		Short: "Write an archive of files, whose bytes depend on their names, modes and content alone",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pieces, err := parseLayer(args[0])
			if err != nil {
				return err
			}
			return writeArchive(output, pieces)
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "archive to write; its name says the format")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func writeArchive(output string, pieces []piece) error {
	write := writeTarball
	switch {
	case strings.HasSuffix(output, ".zip"):
		write = writeZip
	case !strings.HasSuffix(output, ".tar.gz"):
		return fmt.Errorf("archive %s: the name must end with .tar.gz or .zip", output)
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file, pieces), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", output, err)
	}
	return nil
}

func writeTarball(out io.Writer, pieces []piece) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeLayer(compressed, pieces); err != nil {
		return err
	}
	return compressed.Close()
}

// writeZip writes the same files as writeTarball. A zip archive has no use for entries of directories.
func writeZip(out io.Writer, pieces []piece) error {
	reader := openLayer(pieces)
	defer reader.Close()
	archive := zip.NewWriter(out)
	for entries := tar.NewReader(reader); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return archive.Close()
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		entry := &zip.FileHeader{Name: header.Name, Method: zip.Deflate, Modified: zipEpoch}
		entry.SetMode(header.FileInfo().Mode())
		file, err := archive.CreateHeader(entry)
		if err != nil {
			return err
		}
		if _, err := io.Copy(file, entries); err != nil {
			return err
		}
	}
}
