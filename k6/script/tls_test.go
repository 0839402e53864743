package script

import (
	"crypto/tls"
	"testing"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// TestScriptVerifiesTheTarget runs a script against a target that requires a
// client certificate. The script uses the name in the target's certificate as the
// host. Requests must succeed only if the run's CA issued that certificate.
func TestScriptVerifiesTheTarget(t *testing.T) {
	ca, other := tlstest.NewCA(t, "ca"), tlstest.NewCA(t, "other")
	own, clients := ca.ECDSA(t), ca.ECDSA(t)
	config := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{own.Leaf.Raw}, PrivateKey: own.PrivateKey}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool(), MaxVersion: tls.VersionTLS12,
	}
	for name, tc := range map[string]struct {
		trusted   *tlstest.CA
		succeeded int64
	}{"the target's CA": {ca, 3}, "another CA": {other, 0}} {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewTLS(t, config, ok)
			p := plans(1)
			p[0].TLS = &session.TLS{ServerName: tlstest.Name, Protocols: []string{"TLSv1.2"}, Ciphers: []string{"ECDHE-ECDSA-AES256-GCM-SHA384"}, ClientCertificate: true}
			sessions := fakeSessions(p, server.Address())
			c := New(sessions[0], discard)
			scripts := directory(t, map[string]string{"script.js": get + `
import { check } from 'k6';
export const options = { iterations: 3 };
export default function () {
  check(http.get(target), { suite: (r) => r.status !== 200 || r.tls_cipher_suite === 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384' });
}`})
			c.UseDirectories(scripts, t.TempDir(), tlstest.Directory(t, tlstest.Files{CA: tc.trusted.PEM(), Client: clients}))
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := of[result.Totals](sessions[0])[0]
			if got.Requests != 3 || got.Succeeded() != tc.succeeded {
				t.Errorf("%+v", got.Counts)
			}
			for _, m := range got.Script.Metrics {
				if m.Name == "checks" && m.Sum != 3 {
					t.Error("a request used another cipher suite than the plan's")
				}
			}
		})
	}
}
