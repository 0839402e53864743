package planfile

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/test/definition"
)

var update = flag.Bool("update", false, "write fields.txt")

// property is a part of the schema of a BenchmarkRun.
type property struct {
	Type        string              `json:"type"`
	Description string              `json:"description"`
	Default     any                 `json:"default"`
	Enum        []any               `json:"enum"`
	Minimum     *json.Number        `json:"minimum"`
	Maximum     *json.Number        `json:"maximum"`
	Properties  map[string]property `json:"properties"`
	Items       *property           `json:"items"`
}

// own describes the fields that a BenchmarkRun doesn't have.
var own = map[string]property{
	"url":                          {Type: "string", Description: "scheme, host and port of the target; with a path only without load.requests and requestsFile. Required."},
	"host":                         {Type: "string", Description: "Host header. Defaults to host and port of the url."},
	"requestsFile":                 {Type: "string", Description: "path of a list of requests, one on each line, instead of load.requests."},
	"credentialsDirectory":         {Type: "string", Description: "path of a directory with the files username and password, or token, for load.authentication."},
	"tls.certificateAuthorityFile": {Type: "string", Description: "path of the CA certificates that verify the server's. Defaults to Mozilla's root certificates."},
	"tls.clientCertificateFile":    {Type: "string", Description: "path of the client's certificate, as PEM."},
	"tls.clientKeyFile":            {Type: "string", Description: "path of the client's key. Defaults to clientCertificateFile."},
}

// replaced are fields of a BenchmarkRun's load that a plan has others for.
var replaced = []string{"load.requestsFrom", "load.authentication.secretName"}

// TestFields compares fields.txt with the schema of plans, and its descriptions with those of a BenchmarkRun.
func TestFields(t *testing.T) {
	spec := definition.Schema[property](t, "../../../config/crd/bases/assay.dev_benchmarkruns.yaml").Properties["spec"].Properties
	described := map[string]property{}
	add(described, "load", spec["load"])
	add(described, "tls", spec["target"].Properties["tls"])
	maps.Copy(described, own)
	var plan property
	if err := json.Unmarshal(schemaJSON, &plan); err != nil {
		t.Fatal(err)
	}
	all := map[string]property{}
	for name, field := range plan.Properties {
		add(all, name, field)
	}
	for name := range own {
		if _, is := all[name]; !is {
			t.Errorf("%s is described, but no field", name)
		}
	}
	for name, field := range all {
		if field.Description = described[name].Description; field.Description == "" {
			t.Errorf("%s is not described", name)
		}
		all[name] = field
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		kind := p.Type
		if p.Items != nil {
			kind = "list of " + p.Items.Type + "s"
		}
		if p.Minimum != nil && p.Maximum != nil {
			kind += fmt.Sprintf(" from %s to %s", *p.Minimum, *p.Maximum)
		}
		for i, value := range p.Enum {
			kind += fmt.Sprint([]string{", ", " or "}[min(i, 1)], value)
		}
		if p.Default != nil {
			kind += fmt.Sprintf("; default %v", p.Default)
		}
		description := strings.Join(strings.Fields(p.Description), " ")
		fmt.Fprintf(&text, "  %s (%s)\n", name, kind)
		for line := ""; description != ""; {
			line, description = wrapped(description, 110)
			fmt.Fprintf(&text, "      %s\n", line)
		}
	}
	if *update {
		if err := os.WriteFile("fields.txt", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text.String() != Fields {
		t.Error("fields.txt is out of date: go test ./internal/load/planfile -run TestFields -update")
	}
}

// add adds the fields of an object that have no fields of their own.
func add(all map[string]property, path string, p property) {
	inner := p.Properties
	if p.Items != nil && p.Items.Properties != nil {
		path, inner = path+"[]", p.Items.Properties
	}
	switch {
	case slices.ContainsFunc(replaced, func(name string) bool { return strings.HasPrefix(path, name) }):
	case inner == nil:
		all[path] = p
	default:
		for name, field := range inner {
			add(all, path+"."+name, field)
		}
	}
}

// wrapped returns the first line of a text, of at most width bytes unless a word is longer, and the rest.
func wrapped(text string, width int) (line, rest string) {
	if len(text) <= width {
		return text, ""
	}
	i := strings.LastIndexByte(text[:width+1], ' ')
	if i < 0 {
		if i = strings.IndexByte(text, ' '); i < 0 {
			return text, ""
		}
	}
	return text[:i], text[i+1:]
}
