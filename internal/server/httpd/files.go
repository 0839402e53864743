package httpd

import (
	"strings"

	"github.com/assay-dev/assay/internal/server/adapter"
)

// rules are those of the user's own files, which are included at the end, where what they set is the last and holds.
var rules = &adapter.FileRules{
	Kind: "httpd", Main: mainFile, Kept: []string{"home", "executable", "port"}, Settings: settings,
	Fields: map[string][]string{
		"startservers": {"startServers"}, "serverlimit": {"serverLimit"}, "threadlimit": {"threadsPerChild"}, "threadsperchild": {"threadsPerChild"},
		"maxrequestworkers": {"maxRequestWorkers"}, "maxclients": {"maxRequestWorkers"},
		"asyncrequestworkerfactor": {"maxRequestWorkers"}, "listenbacklog": {"listenBacklog"},
		"keepalive": {"keepAlive"}, "maxkeepaliverequests": {"keepAlive.maxRequests"}, "keepalivetimeout": {"keepAlive.timeoutMilliseconds"},
		"enablesendfile": {"sendfile"}, "protocols": {"http2"},
		"sslprotocol": {"tls.protocols"}, "sslciphersuite": {"tls.ciphers"}, "sslverifyclient": {"tls.clientAuthentication"},
	},
}

// settings returns what a file sets that is included, in lower case: httpd's directives have no case
// (https://httpd.apache.org/docs/2.4/configuring.html).
func settings(in *adapter.Input, file string) ([]adapter.Setting, error) {
	var all []adapter.Setting
	part := 0
	text := strings.ReplaceAll(strings.ReplaceAll(in.Files[file], "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		name := strings.ToLower(words[0])
		section, isSection := strings.CutPrefix(name, "<")
		section, ends := strings.CutPrefix(section, "/")
		section = strings.TrimSuffix(section, ">")
		switch {
		case isSection && (section == "ifmodule" || section == "ifdefine" || section == "ifversion" || section == "ifdirective"):
			// What is inside of them holds for all.
		case isSection && ends:
			part--
		case isSection:
			part++
		default:
			// The factor leaves maxRequestWorkers as it is, but not the number of connections that follows from it.
			all = append(all, adapter.Setting{Name: name, Part: part > 0 || name == "asyncrequestworkerfactor"})
		}
	}
	return all, nil
}
