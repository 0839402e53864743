package target

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

var (
	// httpdReady is AH00489, AH00292 or AH00163, by the multi-processing module.
	httpdReady = regexp.MustCompile(`\[(mpm_\w+):notice\] .*AH\d{5}: (\S+/\S+(?: \([^)]*\))?)(.*) configured -- resuming normal operations`)
	// httpdAdjusted are AH00513 to AH00516, AH00180, AH00181 and their like.
	httpdAdjusted = regexp.MustCompile(`(?m)\bAH\d{5}: (?:WARNING: )?(MaxRequestWorkers|ServerLimit|ThreadLimit|ThreadsPerChild|StartServers) of (\d+) (.*(?:decreasing|increasing) .*)$`)
	httpdAdjustTo = regexp.MustCompile(`creasing (?:MaxRequestWorkers )?to (?:nearest multiple )?(\d+)`)
	httpdLimitOf  = regexp.MustCompile(`\bof (\d+)`)
	// httpdNoModule is what a LoadModule without its file ends with.
	httpdNoModule = regexp.MustCompile(`Cannot load (modules/mod_(\w+)\.so) into server: .*`)
	// httpdRefusals are what the library, or httpd as it was built, doesn't do.
	httpdRefusals = []*regexp.Regexp{
		httpdNoModule,
		regexp.MustCompile(`More than one MPM loaded`),
		regexp.MustCompile(`Unable to configure permitted (?:SSL|TLSv1\.3) ciphers`),
		regexp.MustCompile(`SSLProtocol: Illegal protocol '[^']*'`),
		regexp.MustCompile(`No SSL protocols available`),
	}
)

// adjustment is a setting that a server says it does otherwise than it was told.
type adjustment struct{ setting, told, real string }

// readHTTPD reads an error log of httpd of the level notice
// (https://httpd.apache.org/docs/2.4/logs.html#errorlog).
func readHTTPD(log string) Logged {
	var l Logged
	if all := httpdReady.FindAllStringSubmatch(log, -1); all != nil {
		ready := all[len(all)-1]
		l.Connector, l.Version = ready[1], ready[2]
		for _, component := range strings.Fields(ready[3]) {
			if name, version, ok := strings.Cut(component, "/"); ok {
				l.Libraries = append(l.Libraries, name+" "+version)
			}
		}
	}
	for _, line := range httpdAdjusted.FindAllStringSubmatch(log, -1) {
		a := adjustment{setting: line[1], told: line[2]}
		if to := httpdAdjustTo.FindStringSubmatch(line[3]); to != nil {
			a.real = to[1]
		} else if limits := httpdLimitOf.FindAllStringSubmatch(line[3], -1); limits != nil {
			a.real = limits[len(limits)-1][1]
		}
		// Each is said twice: before the log is opened, and in it.
		if a.real != "" && !slices.Contains(l.adjustments, a) {
			l.adjustments = append(l.adjustments, a)
		}
	}
	l.refusals = refusals(log, httpdRefusals)
	return l
}

// refusals are what patterns find in a log, each once.
func refusals(log string, patterns []*regexp.Regexp) []string {
	var found []string
	for _, pattern := range patterns {
		if refusal := pattern.FindString(log); refusal != "" {
			found = append(found, refusal)
		}
	}
	return found
}

// checkHTTPD compares what was declared with what httpd says. With a
// configuration of the user's own, which may say otherwise than the spec, only
// what httpd itself changed of the spec's figures counts.
func checkHTTPD(in *input, l Logged) []Contradiction {
	h := in.server.HTTPD
	var found []Contradiction
	contradict := func(field, declared, real, mend string, unsupported bool) {
		found = append(found, Contradiction{Field: field, Declared: declared, Real: real, Mend: mend, Unsupported: unsupported})
	}
	mpm := cmp.Or(h.MPM, v1alpha1.HTTPDEvent)
	if h.Configuration == nil {
		for _, refusal := range l.refusals {
			switch module := httpdNoModule.FindStringSubmatch(refusal); {
			case module != nil && strings.HasPrefix(module[2], "mpm_"):
				contradict(in.field("httpd.mpm"), string(mpm), refusal, "use an image that has it in home, or an mpm that the image has", true)
			case module != nil && strings.HasPrefix(module[2], "proxy"):
				contradict(in.field("httpd.forward"), "given", refusal, "use an image that has it in home, or leave forward out", true)
			case module != nil && (module[2] == "ssl" || module[2] == "socache_shmcb"):
				contradict("spec.target.tls", "given", refusal, "use an image that has it in home, or leave tls out", true)
			case module != nil:
				contradict(in.field("httpd.home"), cmp.Or(h.Home, httpdHome), refusal, "use an image with httpd's modules in home/modules, or another home", true)
			case strings.Contains(refusal, "MPM"):
				contradict(in.field("httpd.mpm"), string(mpm), refusal, "another one is built into this httpd: use that, or an image that has none built in", true)
			case strings.Contains(refusal, "ciphers"):
				contradict("spec.target.tls.ciphers", joined(in.tls), refusal, "this httpd's OpenSSL doesn't have them: use others, or another image", true)
			default:
				contradict("spec.target.tls.protocols", protocolsOf(in.tls), refusal, "this httpd's OpenSSL doesn't have it: use others, or another image", true)
			}
		}
		if want := "mpm_" + strings.ToLower(string(mpm)); l.Connector != "" && l.Connector != want {
			contradict(in.field("httpd.mpm"), string(mpm), l.Connector, "use an image whose httpd has no mpm built in", false)
		}
	}
	figures, err := httpdProcesses(in)
	if err != nil { // it was rendered before
		return found
	}
	for _, f := range []struct {
		setting, field string
		value          int32
	}{
		{"MaxRequestWorkers", "maxRequestWorkers", figures.maxRequestWorkers},
		{"ServerLimit", "serverLimit", figures.serverLimit},
		{"StartServers", "startServers", figures.startServers},
		{"ThreadLimit", "threadsPerChild", figures.threadLimit},
		{"ThreadsPerChild", "threadsPerChild", figures.threadsPerChild},
	} {
		for _, a := range l.adjustments {
			if a.setting == f.setting && a.told == strconv.Itoa(int(f.value)) {
				contradict(in.field("httpd."+f.field), a.told, a.setting+" "+a.real,
					"give figures that go together: maxRequestWorkers is at most serverLimit times threadsPerChild, and a multiple of threadsPerChild", false)
			}
		}
	}
	return found
}

// joined are the declared ciphers, for a message.
func joined(t *v1alpha1.TLS) string {
	if t == nil || len(t.Ciphers) == 0 {
		return "left out"
	}
	old, suites := cipherSuites(t)
	return strings.Join(append(suites, old...), ", ")
}

// protocolsOf are the versions of TLS, for a message.
func protocolsOf(t *v1alpha1.TLS) string {
	if t == nil {
		return "left out"
	}
	return strings.Join(tlsProtocols(t), ", ")
}
