package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// TestContainersStandOnTheirOwn checks that each of the target's containers has its
// metrics, and that those of the network occur once.
func TestContainersStandOnTheirOwn(t *testing.T) {
	var text bytes.Buffer
	if err := report.Write(&text, "text", forwarding()); err != nil {
		t.Fatal(err)
	}
	_, target, _ := strings.Cut(text.String(), "\nTarget\n------\n")
	target, _, _ = strings.Cut(target, "\nAround the target\n")
	containers := strings.Split(strings.TrimSpace(target), "\n\n")
	if len(containers) != 3 {
		t.Fatalf("%d containers in:\n%s", len(containers), target)
	}
	for i, want := range [][]string{
		{"server, clients talk to it", "75.0% of the limit on average, 98.2% in the peak", "1.000s user, 0.500s system", "Pod network:"},
		{"tomcat, behind it", "2-3, shared; limit 1.5", "80.0% of the limit on average, 96.0% in the peak", "2.000s user, 0.400s system",
			"200.000 ms\n", "520.0 MiB", "500 minor, 2 major", "9000 voluntary, 800 involuntary", "45", "4, 20.000 ms total (1.00% of the time), 9.000 ms longest", "300.0 MiB"},
		{"cache, behind it", "limit 0.1", "not available"},
	} {
		for _, part := range want {
			if !strings.Contains(containers[i], part) {
				t.Errorf("no %q in:\n%s", part, containers[i])
			}
		}
	}
	if n := strings.Count(target, "network"); n != 1 {
		t.Errorf("the network stands %d times in:\n%s", n, target)
	}
}

// TestOwnConfigurationIsReported checks what reports say of configurations of the user's own.
func TestOwnConfigurationIsReported(t *testing.T) {
	r := forwarding()
	r.Environment.Configuration = &result.Configuration{Replaced: true, Files: []string{"a.conf", "httpd.conf"}}
	r.Environment.Backends[0].Configuration = &result.Configuration{Files: []string{"web.xml"}, Fields: []string{"connector.sendfile"}}
	var text bytes.Buffer
	if err := report.Write(&text, "text", r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"own a.conf, httpd.conf, in place of Assay's;", "Configuration of tomcat:", "own web.xml, included in Assay's; sets what these fields do: connector.sendfile",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}

// TestCores checks that the text report says of each container whether it had whole cores.
func TestCores(t *testing.T) {
	for cores, want := range map[string]string{"": " 1, exclusive;", "1": " 1 (whole cores), exclusive;", "1,5": " 1 (of the cores with CPUs 1,5), exclusive;"} {
		r := tomcat()
		r.Environment.TargetCores = cores
		var text bytes.Buffer
		if err := report.Write(&text, "text", r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("cores %q: no %q in:\n%s", cores, want, text.String())
		}
	}
}
