package script

import (
	"crypto/tls"
	"testing"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
	"github.com/assay-dev/assay/load/internal/fakesession"
	"github.com/assay-dev/assay/load/internal/testserver"
)

// TestScriptVerifiesTheTarget: a script reaches a target by the name in its
// certificate, and verifies it by the authority of the run; it presents the run's
// certificate to a target that demands one. Another authority isn't trusted.
func TestScriptVerifiesTheTarget(t *testing.T) {
	authority, other := tlstest.NewAuthority(t, "authority"), tlstest.NewAuthority(t, "other")
	own, clients := authority.ECDSA(t), authority.ECDSA(t)
	config := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{own.Leaf.Raw}, PrivateKey: own.PrivateKey}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool(), MaxVersion: tls.VersionTLS12,
	}
	for name, tc := range map[string]struct {
		vouches   *tlstest.Authority
		succeeded int64
	}{"its authority": {authority, 3}, "another": {other, 0}} {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewTLS(t, config, ok)
			p := plans(1)
			p[0].TLS = &session.TLS{ServerName: tlstest.Name, Protocols: []string{"TLSv1.2"}, Ciphers: []string{"ECDHE-ECDSA-AES256-GCM-SHA384"}, ClientCertificate: true}
			sessions := fakesession.Scripted(p, server.Address())
			c := New(sessions[0], discard)
			scripts := folder(t, map[string]string{"script.js": get + `
import { check } from 'k6';
export const options = { iterations: 3 };
export default function () {
  check(http.get(target), { suite: (r) => r.status !== 200 || r.tls_cipher_suite === 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384' });
}`})
			c.UseFolders(scripts, t.TempDir(), tlstest.Folder(t, tlstest.Files{Authority: tc.vouches.PEM(), Client: clients}))
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := of[fakesession.Totals](sessions[0])[0].Totals
			if got.Requests != 3 || got.Succeeded() != tc.succeeded {
				t.Errorf("%+v", got.Counts)
			}
			for _, m := range got.Script.Metrics {
				if m.Name == "checks" && m.Sum != 3 {
					t.Error("another cipher suite than the run's")
				}
			}
		})
	}
}
