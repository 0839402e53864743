package release

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// plugin is a manifest for krew: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

var (
	pluginVersion = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)
	digest        = regexp.MustCompile(`^[a-f0-9]{64}$`)
	// platforms are those that a release has an archive for.
	platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
)

// objections returns what krew, or its index, would refuse in a manifest whose file has a name.
func objections(file string, content []byte) []string {
	var p plugin
	// krew refuses unknown fields too.
	if err := yaml.UnmarshalStrict(content, &p); err != nil {
		return []string{err.Error()}
	}
	var found []string
	refuse := func(is bool, format string, values ...any) {
		if is {
			found = append(found, fmt.Sprintf(format, values...))
		}
	}
	refuse(p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2", "apiVersion %q", p.APIVersion)
	refuse(p.Kind != "Plugin", "kind %q", p.Kind)
	refuse(p.Metadata.Name+".yaml" != file, "name %q in %s", p.Metadata.Name, file)
	refuse(!pluginVersion.MatchString(p.Spec.Version), "version %q", p.Spec.Version)
	refuse(p.Spec.ShortDescription == "" || strings.Contains(p.Spec.ShortDescription, "\n"), "short description %q", p.Spec.ShortDescription)
	// The guide of the index: short, no full stop, and kubectl needn't be said.
	refuse(len(p.Spec.ShortDescription) > 50 || strings.HasSuffix(p.Spec.ShortDescription, ".") || strings.Contains(p.Spec.ShortDescription, "kubectl"),
		"short description %q", p.Spec.ShortDescription)
	refuse(p.Spec.Homepage == "" || p.Spec.Description == "", "no homepage or description")
	for line := range strings.SplitSeq(p.Spec.Description, "\n") {
		refuse(len(line) > 80, "a line of the description is %d characters long", len(line))
	}
	refuse(len(p.Spec.Platforms) == 0, "no platform")
	for _, one := range p.Spec.Platforms {
		labels := one.Selector.MatchLabels
		refuse(len(labels) != 2 || labels["os"] == "" || labels["arch"] == "", "selector %v", labels)
		refuse(!strings.HasPrefix(one.URI, "https://github.com/assay-dev/assay/releases/download/"+p.Spec.Version+"/"), "uri %q", one.URI)
		refuse(!strings.HasSuffix(one.URI, ".tar.gz") && !strings.HasSuffix(one.URI, ".zip"), "uri %q is no archive", one.URI)
		refuse(!digest.MatchString(one.SHA256), "sha256 %q", one.SHA256)
		bin := "kubectl-assay"
		if labels["os"] == "windows" {
			bin += ".exe"
		}
		refuse(one.Bin != bin, "bin %q for %v", one.Bin, labels)
	}
	return found
}

// manifest makes archives of platforms, and returns the manifest of a release with them and the archives' digests.
func manifest(t *testing.T, version string, of []string) ([]byte, map[string]string) {
	t.Helper()
	dir := t.TempDir()
	digests := map[string]string{}
	for _, one := range of {
		name := "kubectl-assay-" + strings.ReplaceAll(one, "/", "-") + ".tar.gz"
		if strings.HasPrefix(one, "windows/") {
			name = strings.TrimSuffix(name, ".tar.gz") + ".zip"
		}
		content := []byte("the archive for " + one)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		digests[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	run(t, "", "checksums.sh", dir, version)
	content, err := os.ReadFile(filepath.Join(dir, "assay.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	digests["assay.yaml"] = fmt.Sprintf("%x", sha256.Sum256(content))
	var lines []string
	for name, sum := range digests {
		lines = append(lines, sum+"  "+name)
	}
	got := strings.Split(strings.TrimSpace(string(sums)), "\n")
	slices.Sort(got)
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		t.Errorf("checksums.txt has %q, want %q", got, lines)
	}
	return content, digests
}

func TestKrewManifest(t *testing.T) {
	for _, version := range []string{"0.2.0", "1.0.0-rc.1"} {
		content, digests := manifest(t, version, platforms)
		if found := objections("assay.yaml", content); len(found) > 0 {
			t.Errorf("krew refuses the manifest: %q\n%s", found, content)
		}
		var p plugin
		if err := yaml.Unmarshal(content, &p); err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, one := range p.Spec.Platforms {
			have = append(have, one.Selector.MatchLabels["os"]+"/"+one.Selector.MatchLabels["arch"])
			if sum := digests[filepath.Base(one.URI)]; sum == "" || one.SHA256 != sum {
				t.Errorf("%s has the checksum %s, want %s", one.URI, one.SHA256, sum)
			}
		}
		if !slices.Equal(have, platforms) || p.Spec.Version != "v"+version {
			t.Errorf("version %s for %v", p.Spec.Version, have)
		}
		if strings.Contains(string(content), "VERSION") {
			t.Errorf("a placeholder is left:\n%s", content)
		}
	}
	content, _ := manifest(t, "0.2.0", platforms[:1])
	if found := objections("assay.yaml", content); len(found) > 0 || strings.Contains(string(content), "darwin/") || strings.Contains(string(content), "windows") {
		t.Errorf("the manifest of a release for one platform: %q\n%s", found, content)
	}
}

// TestKrewRules checks that the rules above find what krew refuses.
func TestKrewRules(t *testing.T) {
	content, _ := manifest(t, "0.2.0", platforms)
	if found := objections("other.yaml", content); len(found) == 0 {
		t.Error("a file of another name was accepted")
	}
	for _, change := range [][2]string{
		{"v1alpha2", "v1"}, {"kind: Plugin", "kind: Plug"}, {"name: assay", "name: kubectl-assay"}, {"version: v0.2.0", "version: 0.2.0"},
		{"  homepage: https://github.com/assay-dev/assay\n", ""}, {"shortDescription: Bench", "shortDescription: With kubectl bench"},
		{"sha256: ", "sha256: 0"}, {"bin: kubectl-assay.exe", "bin: kubectl-assay"}, {"{os: linux, arch: amd64}", "{os: linux}"},
		{"download/v0.2.0/", "download/v0.1.0/"}, {"windows-amd64.zip", "windows-amd64.rar"}, {"  caveats:", "  caveat:"},
	} {
		changed := strings.Replace(string(content), change[0], change[1], 1)
		if changed == string(content) {
			t.Errorf("%q isn't in the manifest", change[0])
		} else if found := objections("assay.yaml", []byte(changed)); len(found) == 0 {
			t.Errorf("%q instead of %q was accepted", change[1], change[0])
		}
	}
}
