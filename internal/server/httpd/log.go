package httpd

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/server/adapter"
)

var (
	// logsReady is AH00489, AH00292 or AH00163, by the multi-processing module.
	logsReady = regexp.MustCompile(`\[(mpm_\w+):notice\] .*AH\d{5}: (\S+/\S+(?: \([^)]*\))?)(.*) configured -- resuming normal operations`)
	// logsAdjusted are AH00513 to AH00516, AH00180, AH00181 and their like.
	logsAdjusted = regexp.MustCompile(`(?m)\bAH\d{5}: (?:WARNING: )?(MaxRequestWorkers|ServerLimit|ThreadLimit|ThreadsPerChild|StartServers) of (\d+) (.*(?:decreasing|increasing) .*)$`)
	adjustedTo   = regexp.MustCompile(`creasing (?:MaxRequestWorkers )?to (?:nearest multiple )?(\d+)`)
	limitOf      = regexp.MustCompile(`\bof (\d+)`)
	// noModule matches the error of a LoadModule whose file doesn't exist.
	noModule = regexp.MustCompile(`Cannot load (modules/mod_(\w+)\.so) into server: .*`)
	// logsRefusals are what the library, or httpd as it was built, doesn't do.
	logsRefusals = []*regexp.Regexp{
		noModule,
		regexp.MustCompile(`More than one MPM loaded`),
		regexp.MustCompile(`Unable to configure permitted (?:SSL|TLSv1\.3) ciphers`),
		regexp.MustCompile(`SSLProtocol: Illegal protocol '[^']*'`),
		regexp.MustCompile(`No SSL protocols available`),
	}
)

// logged is what httpd's log says about it.
type logged struct {
	adapter.Log
	// refusals are the lines about what httpd doesn't have.
	refusals []string
	// adjustments are the settings that httpd changed.
	adjustments []adjustment
}

// adjustment is a setting that httpd changed.
type adjustment struct{ setting, configured, real string }

// ReadLog implements adapter.Verifiable.
func (Server) ReadLog(in *adapter.Input, log string) (adapter.Log, []adapter.Mismatch) {
	l := readLog(log)
	return l.Log, check(in, l)
}

// readLog reads an error log of httpd of the level notice
// (https://httpd.apache.org/docs/2.4/logs.html#errorlog).
func readLog(log string) logged {
	var l logged
	if all := logsReady.FindAllStringSubmatch(log, -1); all != nil {
		ready := all[len(all)-1]
		l.Connector, l.Version = ready[1], ready[2]
		for _, component := range strings.Fields(ready[3]) {
			if name, version, ok := strings.Cut(component, "/"); ok {
				l.Libraries = append(l.Libraries, name+" "+version)
			}
		}
	}
	for _, line := range logsAdjusted.FindAllStringSubmatch(log, -1) {
		a := adjustment{setting: line[1], configured: line[2]}
		if to := adjustedTo.FindStringSubmatch(line[3]); to != nil {
			a.real = to[1]
		} else if limits := limitOf.FindAllStringSubmatch(line[3], -1); limits != nil {
			a.real = limits[len(limits)-1][1]
		}
		// Each is logged twice: before the log is opened, and in it.
		if a.real != "" && !slices.Contains(l.adjustments, a) {
			l.adjustments = append(l.adjustments, a)
		}
	}
	l.refusals = adapter.FirstMatches(log, logsRefusals)
	return l
}

// check compares what was declared with the log. A configuration of the user's own may
// differ from the spec, so then only values of the spec that httpd itself changed are
// compared.
func check(in *adapter.Input, l logged) []adapter.Mismatch {
	h := in.Server.HTTPD
	var found []adapter.Mismatch
	mismatch := func(field, declared, real, remedy string, unsupported bool) {
		found = append(found, adapter.Mismatch{Field: field, Declared: declared, Real: real, Remedy: remedy, Unsupported: unsupported})
	}
	mpm := mpmOf(h)
	if h.Configuration == nil {
		for _, refusal := range l.refusals {
			switch module := noModule.FindStringSubmatch(refusal); {
			case module != nil && strings.HasPrefix(module[2], "mpm_"):
				mismatch(in.Field("httpd.mpm"), string(mpm), refusal, "use an image that has it in home, or an mpm that the image has", true)
			case module != nil && strings.HasPrefix(module[2], "proxy"):
				mismatch(in.Field("httpd.forward"), "set", refusal, "use an image that has it in home, or remove forward", true)
			case module != nil && (module[2] == "ssl" || module[2] == "socache_shmcb"):
				mismatch("spec.target.tls", "set", refusal, "use an image that has it in home, or remove tls", true)
			case module != nil:
				mismatch(in.Field("httpd.home"), cmp.Or(h.Home, defaultHome), refusal, "use an image with httpd's modules in home/modules, or another home", true)
			case strings.Contains(refusal, "MPM"):
				mismatch(in.Field("httpd.mpm"), string(mpm), refusal, "another one is built into this httpd: use that one, or an image without a built-in mpm", true)
			case strings.Contains(refusal, "ciphers"):
				mismatch("spec.target.tls.ciphers", adapter.DeclaredCiphers(in.TLS), refusal, "this httpd's OpenSSL doesn't support them: use others, or another image", true)
			default:
				mismatch("spec.target.tls.protocols", adapter.DeclaredProtocols(in.TLS), refusal, "this httpd's OpenSSL doesn't support it: use others, or another image", true)
			}
		}
		if want := "mpm_" + strings.ToLower(string(mpm)); l.Connector != "" && l.Connector != want {
			mismatch(in.Field("httpd.mpm"), string(mpm), l.Connector, "use an image whose httpd has no built-in mpm", false)
		}
	}
	counts, err := processesOf(in)
	if err != nil { // it was rendered before
		return found
	}
	for _, f := range []struct {
		setting, field string
		value          int32
	}{
		{"MaxRequestWorkers", "maxRequestWorkers", counts.maxRequestWorkers},
		{"ServerLimit", "serverLimit", counts.serverLimit},
		{"StartServers", "startServers", counts.startServers},
		{"ThreadLimit", "threadsPerChild", counts.threadLimit},
		{"ThreadsPerChild", "threadsPerChild", counts.threadsPerChild},
	} {
		for _, a := range l.adjustments {
			if a.setting == f.setting && a.configured == strconv.Itoa(int(f.value)) {
				mismatch(in.Field("httpd."+f.field), a.configured, a.setting+" "+a.real,
					"set values that fit: maxRequestWorkers must be at most serverLimit times threadsPerChild, and a multiple of threadsPerChild", false)
			}
		}
	}
	return found
}
