package httpd

import (
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
)

// refusals are the lines that httpd logs if it, as built, or its library can't do what is declared.
var refusals = []adapter.Refusal{
	adapter.Refuses(`Cannot load modules/mod_mpm_\w+\.so into server: .*`, "httpd.mpm", mpmOf,
		"use an image that has it in home, or an mpm that the image has"),
	adapter.Refuses(`Cannot load modules/mod_proxy\w*\.so into server: .*`, "httpd.forward", adapter.IsSet,
		"use an image that has it in home, or remove forward"),
	adapter.Refuses(`Cannot load modules/mod_(?:ssl|socache_shmcb)\.so into server: .*`, "tls", adapter.IsSet,
		"use an image that has it in home, or remove tls"),
	adapter.Refuses(`Cannot load modules/mod_\w+\.so into server: .*`, "httpd.home", homeOf,
		"use an image with httpd's modules in home/modules, or another home"),
	adapter.Refuses(`More than one MPM loaded`, "httpd.mpm", mpmOf,
		"another one is built into this httpd: use that one, or an image without a built-in mpm"),
	adapter.Refuses(`Unable to configure permitted (?:SSL|TLSv1\.3) ciphers`, "tls.ciphers", adapter.DeclaredCiphers,
		"this httpd's OpenSSL doesn't support them: use others, or another image"),
	adapter.Refuses(`SSLProtocol: Illegal protocol '[^']*'|No SSL protocols available`, "tls.protocols", adapter.DeclaredProtocols,
		"this httpd's OpenSSL doesn't support it: use others, or another image"),
}

// logsError matches a line of the level error or worse (https://httpd.apache.org/docs/2.4/mod/core.html#loglevel).
var logsError = regexp.MustCompile(`^\[[^\]]*\] \[(?:\w*:)?(?:error|crit|alert|emerg)\]`)

// IsError implements adapter.Verifiable.
func (Server) IsError(line string) bool { return logsError.MatchString(line) }

// logged holds the facts about httpd that its log states.
type logged struct {
	adapter.Log
	// adjustments are the settings that httpd changed.
	adjustments []adjustment
}

// adjustment is a setting that httpd changed.
type adjustment struct{ setting, configured, real string }

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
	return l
}

// ReadLog implements adapter.Verifiable. What a configuration of the user's own sets may differ from the spec,
// so that only values of the spec that httpd itself changed are compared.
func (Server) ReadLog(in *adapter.Input, log string) (adapter.Log, []adapter.Mismatch) {
	l, found := readLog(log), adapter.Mismatches{In: in}
	if !in.Changed(in.Server.HTTPD.Configuration) {
		found.Refusals(log, refusals)
		if mpm := mpmOf(in); l.Connector != "" && l.Connector != "mpm_"+strings.ToLower(mpm) {
			found.Differs("httpd.mpm", mpm, l.Connector, "use an image whose httpd has no built-in mpm")
		}
	}
	counts, err := processesOf(in)
	if err != nil { // it was rendered before
		return l.Log, found.All
	}
	for _, d := range counts.directives() {
		for _, a := range l.adjustments {
			if a.setting == d.name && a.configured == strconv.Itoa(int(d.value)) {
				found.Differs("httpd."+d.field, a.configured, a.setting+" "+a.real,
					"set values that fit: maxRequestWorkers must be at most serverLimit times threadsPerChild, and a multiple of threadsPerChild")
			}
		}
	}
	return l.Log, found.All
}
