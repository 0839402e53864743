package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// http2Tools returns the tools that speak HTTP/2 with a given number of streams on each connection.
func http2Tools(cache string) []tool {
	return []tool{
		{name: "h2load", program: "h2load", arguments: h2loadStreams, parse: parseH2load},
		{name: "assay-load", program: filepath.Join(cache, "bin", "assay-load"), arguments: assayLoadStreams, parse: parseAssayLoad},
	}
}

// toolsFor returns the tools for a case.
func toolsFor(c *benchCase, chosen []tool, cache string) []tool {
	if c.streams == 0 {
		return chosen
	}
	return slices.DeleteFunc(http2Tools(cache), func(t tool) bool {
		return !slices.ContainsFunc(chosen, func(o tool) bool { return o.program == t.program })
	})
}

func h2loadStreams(l *load) ([]string, error) {
	return []string{"-t1", "-c" + strconv.Itoa(l.connections), "-m" + strconv.Itoa(l.streams), "-D" + seconds(l.duration), l.url}, nil
}

func assayLoadStreams(l *load) ([]string, error) {
	path := filepath.Join(l.directory, "http2.yaml")
	text := fmt.Sprintf("url: %s\nload:\n  connection: {protocol: HTTP2, streams: %d}\n  closed: {connections: %d, durationSeconds: %s}\ntls: {verification: None}\n",
		l.url, l.streams, l.connections, seconds(l.duration))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return []string{"run", "-o", "json", path}, nil
}
