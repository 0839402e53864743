package main

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDockerfileHasTheLabelsOfTheMakefile checks that an image has the same labels however it is
// built, and that those of the client name the version of k6 that it is linked with.
func TestDockerfileHasTheLabelsOfTheMakefile(t *testing.T) {
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(dockerfile), "\nFROM ")
	for image, target := range map[string]string{"assay": "assay-image", "assay-load": "assay-load-image", "assay-k6": "assay-k6-image"} {
		recipe, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "--dry-run", "--no-print-directory", target).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := labelsIn(string(recipe), regexp.MustCompile(`--label "([^="]+)=([^"]*)"`))
		maps.Copy(want, labelsIn(string(recipe), regexp.MustCompile(`--label ([^= "]+)=(\S+)`)))
		var have map[string]string
		for _, stage := range stages {
			if strings.HasPrefix(stage, "scratch AS "+image+"\n") {
				have = labelsIn(stage, regexp.MustCompile(`([a-z0-9.]+\.[a-z0-9.]+)="([^"]*)"`))
			}
		}
		delete(have, "org.opencontainers.image.version")
		delete(want, "org.opencontainers.image.version")
		if diff := cmp.Diff(want, have); diff != "" || want["org.opencontainers.image.licenses"] == "" {
			t.Errorf("image %s: -Makefile +Dockerfile:\n%s", image, diff)
		}
	}
}

func labelsIn(text string, pattern *regexp.Regexp) map[string]string {
	found := map[string]string{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		maps.Copy(found, map[string]string{match[1]: match[2]})
	}
	return found
}
