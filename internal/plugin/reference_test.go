package plugin_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/test/golden"
)

// referencePage has the help of every command.
const referencePage = "../../docs/kubectl.md"

const referenceIntroduction = `<!-- Generated from the commands: go test ./internal/plugin -run TestReference -update -->

# kubectl assay

Reference of the kubectl plugin. [Quick start](quickstart.md#install) installs it, [Reports](report.md) explains what it prints, and
[UI](ui.md) the pages that it serves. The same texts are printed by ` + "`kubectl assay COMMAND --help`" + `.

`

// TestReference checks that docs/kubectl.md has every command with its help and its flags as they are.
func TestReference(t *testing.T) {
	root := plugin.NewCommand(genericiooptions.NewTestIOStreamsDiscard(), "")
	var list, sections strings.Builder
	describe(&list, &sections, root, 2)
	want := referenceIntroduction + list.String() + "- [Flags of all commands](#flags-of-all-commands)\n\n" + sections.String() +
		"## Flags of all commands\n\n" + flagTable(root.PersistentFlags())
	want = strings.TrimRight(want, "\n") + "\n"
	golden.Check(t, referencePage, want)
}

// describe writes the sections of a command and of those below it, and links to them.
func describe(list, sections *strings.Builder, cmd *cobra.Command, level int) {
	if cmd.Runnable() {
		path := cmd.CommandPath()
		fmt.Fprintf(list, "- [`%s`](#%s): %s\n", path, strings.ReplaceAll(path, " ", "-"), escaped(cmd.Short))
		fmt.Fprintf(sections, "%s %s\n\n```\n%s\n```\n\n%s\n", strings.Repeat("#", level), path, cmd.UseLine(), prose(orShort(cmd)))
		if cmd.Example != "" {
			fmt.Fprintf(sections, "```sh\n%s\n```\n\n", dedent(cmd.Example))
		}
		if cmd.HasAvailableLocalFlags() && cmd.LocalNonPersistentFlags().HasAvailableFlags() {
			sections.WriteString(flagTable(cmd.LocalNonPersistentFlags()) + "\n")
		}
	}
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			describe(list, sections, child, level)
		}
	}
}

func orShort(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return cmd.Long
}

// prose returns a help text as Markdown: its indented lines are blocks of code.
func prose(text string) string {
	var out strings.Builder
	var block []string
	flush := func() {
		if len(block) > 0 {
			fmt.Fprintf(&out, "\n```text\n%s\n```\n\n", strings.TrimRight(strings.Join(block, "\n"), "\n"))
		}
		block = nil
	}
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "  "), line == "" && len(block) > 0:
			block = append(block, strings.TrimPrefix(line, "  "))
		default:
			flush()
			out.WriteString(escaped(line) + "\n")
		}
	}
	flush()
	return strings.ReplaceAll(strings.TrimRight(out.String(), "\n")+"\n", "\n\n\n", "\n\n")
}

func dedent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

func flagTable(flags *pflag.FlagSet) string {
	var out strings.Builder
	out.WriteString("| flag | default | description |\n| --- | --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		value := f.DefValue
		if home, err := os.UserHomeDir(); err == nil && home != "/" {
			value = strings.Replace(value, home, "$HOME", 1)
		}
		switch value {
		case "", "[]", "0", "0s":
			value = ""
		default:
			value = "`" + value + "`"
		}
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&out, "| %s | %s | %s |\n", name, value, strings.ReplaceAll(escaped(usage), "|", `\|`))
	})
	return out.String()
}

// escaped escapes what Markdown takes for markup.
func escaped(text string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`).Replace(text)
}
