package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/internal/plugin/initialize"
)

// TestInit checks that the API server accepts every combination of the choices of kubectl assay init.
func TestInit(t *testing.T) {
	namespace := newNamespace(t)
	accepted := 0
	for _, kind := range []string{"BenchmarkRun", "Benchmark"} {
		for _, server := range initialize.Servers {
			for _, load := range initialize.Loads {
				for _, path := range []string{"/", "/16k.bin", "/a/?q=1"} {
					for _, against := range []string{"", "registry.example.org/old:1"} {
						if against != "" && (kind != "Benchmark" || server == "external") {
							continue
						}
						o := initialize.Options{
							Kind: kind, Name: "shop", Server: server, Image: "registry.example.org/new:1", URL: "http://shop.example.org", Port: 8080,
							Path: path, Load: load, Connections: 50, Rate: 100, Seconds: 30, Clients: 2, Against: against,
						}
						if err := dryInit(t, &o, namespace); err != nil {
							t.Errorf("%+v: %v", o, err)
						}
						o.Connections, o.Rate, o.Seconds, o.Clients = 1, 1, 1, 1
						if err := dryInit(t, &o, namespace); err != nil {
							t.Errorf("%+v: %v", o, err)
						}
						accepted += 2
					}
				}
			}
		}
	}
	if accepted < 200 {
		t.Errorf("only %d manifests were tried", accepted)
	}
	wrong := initialize.Options{Kind: "BenchmarkRun", Name: "shop", Server: "external", URL: "http://shop/path", Path: "/", Load: "closed", Connections: 1, Seconds: 1, Clients: 1}
	if err := dryInit(t, &wrong, namespace); err == nil || !strings.Contains(err.Error(), "paths belong in load.requests") {
		t.Errorf("a wrong URL: %v", err)
	}
}

func dryInit(t *testing.T, o *initialize.Options, namespace string) error {
	t.Helper()
	manifest, err := initialize.Manifest(o)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(manifest, &object.Object); err != nil {
		t.Fatalf("%v in:\n%s", err, manifest)
	}
	return dryCreate(t.Context(), object, namespace)
}
