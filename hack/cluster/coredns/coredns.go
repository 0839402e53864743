// Package coredns has the cluster's DNS server, which is the same on all engines.
package coredns

import (
	_ "embed"
	"strings"
)

//go:embed coredns.yaml
var manifest string

// Manifest returns the objects of CoreDNS. It runs on one node and serves a domain at a Service's address.
func Manifest(serviceIP, domain, node string) string {
	return strings.NewReplacer("$DNS_SERVICE_IP", serviceIP, "$CLUSTER_DOMAIN", domain, "$NODE", node).Replace(manifest)
}
