package initialize

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/config/samples"
)

// object returns the object of Assay in a manifest.
func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	for _, document := range strings.Split(manifest, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &o.Object); err != nil {
			t.Fatalf("%v\n%s", err, manifest)
		}
		if strings.HasPrefix(o.GetKind(), "Benchmark") {
			return o
		}
	}
	t.Fatalf("no object of Assay in\n%s", manifest)
	return nil
}

func imageOf(o *unstructured.Unstructured) string {
	for _, path := range [][]string{{"spec", "target", "image"}, {"spec", "template", "spec", "target", "image"}} {
		if image, has, _ := unstructured.NestedString(o.Object, path...); has {
			return image
		}
	}
	return ""
}

// TestSamples checks that each sample gets name and image and nothing else changes, and that it is as it was without them.
func TestSamples(t *testing.T) {
	for _, sample := range samples.Names() {
		before, _ := samples.Read(sample)
		if same, err := Manifest(sample, "", ""); err != nil || same != before {
			t.Errorf("%s without flags: %v\n%s", sample, err, same)
		}
		manifest, err := Manifest(sample, "shop", "registry.example.org/shop:1.4")
		if err != nil {
			t.Fatal(sample, err)
		}
		o, was := object(t, manifest), object(t, before)
		if o.GetName() != "shop" || imageOf(o) != "registry.example.org/shop:1.4" {
			t.Errorf("%s: name %s, image %s", sample, o.GetName(), imageOf(o))
		}
		changed := strings.Replace(strings.Replace(before, "\nmetadata:\n  name: "+was.GetName()+"\n", "\nmetadata:\n  name: shop\n", 1), "image: "+imageOf(was), "image: registry.example.org/shop:1.4", 1)
		if manifest != changed {
			t.Errorf("%s: more was changed:\n%s", sample, manifest)
		}
	}
}

// TestImagesAreScalars checks that no image can add a field, a comment or a document to the manifest.
func TestImagesAreScalars(t *testing.T) {
	for _, hostile := range []string{
		"a: b", "x\nspec: {}", "x # y", "---\nkind: Secret", "*a", "&a b", "{{ .x }}", "yes", "0x1F", "1e3", "null", "~", "'", "\"", " x ",
		"\t", "\u2028kind: x", "!!binary x", "|\n x", "- a", "? a", "%TAG", "\x00", "\x1b[31m", "x\n", "x\r\ny", "$1", "é", "\U0001F600",
	} {
		manifest, err := Manifest(defaultSample, "", hostile)
		if err != nil {
			t.Fatalf("%q: %v", hostile, err)
		}
		if got := imageOf(object(t, manifest)); got != hostile {
			t.Errorf("%q became %q", hostile, got)
		}
	}
}

func TestFlags(t *testing.T) {
	for arguments, want := range map[string]string{
		"": "", "open": "", "benchmarks/images --name a --image b": "",
		"nowhere": `unknown sample "nowhere": use one of caddy, envoy, generic, haproxy,`, "../samples": "unknown sample", "kustomization --name x": "unknown sample",
		"--name A": `--name "A": `, "generic open": "at most 1 arg", "--name": "needs an argument",
	} {
		cmd := NewCommand(genericiooptions.NewTestIOStreamsDiscard())
		cmd.SetArgs(strings.Fields(arguments))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.Execute()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}
