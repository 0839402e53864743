package native

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

//go:embed coredns.yaml
var corednsManifest string

// installAddons applies the manifest of CoreDNS if it has changed.
func (l Layout) installAddons(ctx context.Context) error {
	manifest := strings.NewReplacer("$DNS_SERVICE_IP", dnsServiceIP, "$CLUSTER_DOMAIN", clusterDomain).Replace(corednsManifest)
	stamp := fmt.Sprintf("%x", sha256.Sum256([]byte(manifest)))
	file := l.state("addons-applied")
	if have, err := os.ReadFile(file); err == nil && string(have) == stamp {
		return nil
	}
	cmd := exec.CommandContext(ctx, l.bin("kubectl"), "--kubeconfig", l.Kubeconfig(),
		"apply", "--server-side", "--force-conflicts", "--field-manager=assay-cluster", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	// kubectl must not write caches to the user's home directory.
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+l.run("kubectl-cache"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install coredns: %w: %s", err, bytes.TrimSpace(out))
	}
	return os.WriteFile(file, []byte(stamp), 0o644)
}
