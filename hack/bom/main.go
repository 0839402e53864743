// Command assay-bom lists what the programs of an image are built from. It reads the modules that the
// Go linker recorded in them, and writes a CycloneDX bill of materials and the license texts of all
// modules. Equal programs give equal files.
package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
)

// billFile is the name of the bill of materials.
const billFile = "sbom.cdx.json"

// options are the flags.
type options struct {
	image   string
	version string
	output  string
	cache   string
	sources []string
	// unlicensed are the modules that are known to have no license text.
	unlicensed []string
}

// component is a module that is linked into a program, with its license texts.
type component struct {
	path, version string
	// sum is the hash that the checksum database has for the module, or empty for the image's own.
	sum string
	// texts are the license files by name.
	texts map[string][]byte
}

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "assay-bom:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:           "assay-bom --image NAME --output DIRECTORY [--source MODULE=DIRECTORY]... PROGRAM...",
		Short:         "Write the bill of materials and the licenses of an image's programs",
		Args:          cobra.MinimumNArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(_ *cobra.Command, programs []string) error { return o.write(programs) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.image, "image", "", "name of the image")
	flags.StringVar(&o.version, "version", "dev", "version of the image and of its own modules")
	flags.StringVar(&o.output, "output", "", "directory to write to; what it contains is replaced")
	flags.StringVar(&o.cache, "module-cache", "", "directory of the module cache, as go env GOMODCACHE prints it")
	flags.StringArrayVar(&o.sources, "source", nil, "directory of a module that isn't in the module cache; may be repeated")
	flags.StringArrayVar(&o.unlicensed, "unlicensed", nil, "module that is known to have no license text, such as generated code; may be repeated")
	for _, name := range []string{"image", "output", "module-cache"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

// write makes the output directory hold exactly the bill of materials and the license texts. It leaves
// files alone that have their content already, so that nothing is built again because of them.
func (o *options) write(programs []string) error {
	components, goVersion, err := o.components(programs)
	if err != nil {
		return err
	}
	bill, err := encode(o.image, o.version, goVersion, components)
	if err != nil {
		return err
	}
	files := map[string][]byte{billFile: bill}
	for _, c := range components {
		for name, text := range c.texts {
			files[filepath.Join("licenses", c.path+"@"+c.version, name)] = text
		}
	}
	for name, text := range files {
		if err := update(filepath.Join(o.output, name), text); err != nil {
			return err
		}
	}
	if err := removeOthers(o.output, files); err != nil {
		return err
	}
	fmt.Printf("  sbom   %s: %d modules\n", o.image, len(components))
	return nil
}

func update(path string, text []byte) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// removeOthers removes all files of a directory that aren't among files.
func removeOthers(dir string, files map[string][]byte) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || files[name] != nil {
			return err
		}
		return os.Remove(path)
	})
}

// components returns the modules of all programs, sorted, and the version of Go.
func (o *options) components(programs []string) ([]component, string, error) {
	found := map[string]component{}
	goVersion := ""
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, "", fmt.Errorf("read the modules of %s: %w", program, err)
		}
		if goVersion = info.GoVersion; goVersion == "" {
			return nil, "", fmt.Errorf("%s has no Go version", program)
		}
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			c, err := o.component(m)
			if err != nil {
				return nil, "", fmt.Errorf("%s: %w", program, err)
			}
			found[c.path+"@"+c.version] = c
		}
	}
	var all []component
	for _, c := range found {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.path+"@"+a.version, b.path+"@"+b.version) })
	return all, goVersion, nil
}

// component finds the sources of a module. It fails for one without a license text, unless that is
// known: an image must not be shipped with such a module unseen.
func (o *options) component(m *debug.Module) (component, error) {
	dir := o.sourceOf(m.Path)
	if dir == "" && m.Replace != nil {
		m = m.Replace
	}
	c := component{path: m.Path, version: m.Version, sum: m.Sum}
	if dir != "" {
		c.version, c.sum = o.version, ""
	} else {
		path, err := module.EscapePath(m.Path)
		if err != nil {
			return c, err
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return c, err
		}
		dir = filepath.Join(o.cache, path+"@"+version)
	}
	var err error
	if c.texts, err = licenseTexts(dir); err != nil {
		return c, fmt.Errorf("read the license of %s: %w", m.Path, err)
	}
	if len(c.texts) == 0 && !slices.Contains(o.unlicensed, m.Path) {
		return c, fmt.Errorf("module %s has no license text in %s", m.Path, dir)
	}
	return c, nil
}

func (o *options) sourceOf(modulePath string) string {
	for _, source := range o.sources {
		if path, dir, _ := strings.Cut(source, "="); path == modulePath {
			return dir
		}
	}
	return ""
}

// licenseTexts reads the files of a module's root that state its license, by name.
func licenseTexts(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, entry := range entries {
		upper := strings.ToUpper(entry.Name())
		if !entry.Type().IsRegular() || strings.HasSuffix(upper, ".GO") ||
			!slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE", "PATENTS"}, func(prefix string) bool { return strings.HasPrefix(upper, prefix) }) {
			continue
		}
		if texts[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
