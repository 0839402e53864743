package jetty

import (
	"path"
	"strings"

	"github.com/assay-dev/assay/internal/server/adapter"
)

// rules are those of the user's own files. The port and http2 are compared with what Jetty starts, whoever set them.
var rules = &adapter.FileRules{
	Kind: "jetty", Main: mainFile, Kept: []string{"home", "base", "connector.port", "connector.http2", "jvmOptions", "gcLog"}, Settings: properties,
	Fields: map[string][]string{
		"port": {"connector.port"}, "acceptors": {"connector.acceptors"}, "selectors": {"connector.selectors"}, "acceptQueueSize": {"connector.acceptQueueSize"},
		"idleTimeout": {"connector.keepAlive.timeoutMilliseconds"}, "jetty.httpConfig.persistentConnectionsEnabled": {"connector.keepAlive.mode"},
		"jetty.networkConnectionLimit.maxNetworkConnectionCount": {"connector.maxConnections"},
		"maxThreads": {"threads.max"}, "minThreads": {"threads.min"}, "virtual.maxConcurrentTasks": {"threads.max"}, "virtual.maxThreads": {"threads.max"}, "virtual.maxTasks": {"threads.max"},
	},
}

// properties returns the properties that a file of start.d sets, those of the connector and of the threads without their prefix.
func properties(in *adapter.Input, file string) ([]adapter.Setting, error) {
	if path.Ext(file) != ".ini" {
		return nil, nil
	}
	prefix := "jetty.http."
	if in.TLS != nil {
		prefix = "jetty.ssl."
	}
	var all []adapter.Setting
	for line := range strings.Lines(in.Files[file]) {
		name, _, ok := strings.Cut(line, "=")
		if name = strings.TrimRight(strings.TrimSpace(name), "?+"); !ok || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "-") {
			continue
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, prefix), "jetty.threadPool.")
		all = append(all, adapter.Setting{Name: name})
	}
	return all, nil
}
