package native

import (
	"encoding/base64"
	"fmt"
	"os"
)

// writeKubeconfig writes the kubeconfig of one user. It embeds the user's
// certificate, so that the file can be copied.
func (l Layout) writeKubeconfig(user string) error {
	var parts [3]string
	for i, file := range []string{"ca.crt", user + ".crt", user + ".key"} {
		content, err := os.ReadFile(l.pki(file))
		if err != nil {
			return err
		}
		parts[i] = base64.StdEncoding.EncodeToString(content)
	}
	file := l.kubeconfig(user)
	if user == "admin" {
		file = l.Kubeconfig()
	}
	content := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: assay
  cluster:
    server: https://127.0.0.1:%d
    certificate-authority-data: %s
users:
- name: %s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: assay
  context: {cluster: assay, user: %s}
current-context: assay
`, apiPort, parts[0], user, parts[1], parts[2], user)
	return os.WriteFile(file, []byte(content), 0o600)
}
