// Command golangci-lint is golangci-lint with the Kubernetes API linter compiled in, so that the
// API types are held to the API conventions by the same run that lints everything else.
package main

import (
	"fmt"
	"os"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"

	_ "sigs.k8s.io/kube-api-linter"
)

func main() {
	info := commands.BuildInfo{GoVersion: "go", Version: "v2.12.2-kube-api-linter", Commit: "none", Date: "unknown"}
	if err := commands.Execute(info); err != nil {
		fmt.Fprintln(os.Stderr, "golangci-lint:", err)
		os.Exit(exitcodes.Failure)
	}
}
