package native

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var issued = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// issue creates the keys of a cluster in a temporary directory.
func issue(t *testing.T, nodeIP string) Layout {
	t.Helper()
	l := Layout{State: filepath.Join(t.TempDir(), "state"), Run: filepath.Join(t.TempDir(), "run")}
	if err := l.makeDirs(); err != nil {
		t.Fatal(err)
	}
	if err := l.issueCertificates(nodeIP, issued); err != nil {
		t.Fatal(err)
	}
	return l
}

func readCertificate(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		t.Fatalf("%s is no PEM", file)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func TestCertificates(t *testing.T) {
	const nodeIP = "198.51.100.7"
	l := issue(t, nodeIP)
	roots := map[string]*x509.CertPool{}
	for _, name := range []string{"ca", "front-proxy-ca"} {
		roots[name] = x509.NewCertPool()
		roots[name].AddCert(readCertificate(t, l.pki(name+".crt")))
	}
	serials := map[string]string{}
	for _, want := range certificates(nodeIP) {
		t.Run(want.name, func(t *testing.T) {
			if _, err := tls.LoadX509KeyPair(l.pki(want.name+".crt"), l.pki(want.name+".key")); err != nil {
				t.Errorf("certificate and key: %v", err)
			}
			leaf := readCertificate(t, l.pki(want.name+".crt"))
			if other, ok := serials[leaf.SerialNumber.String()]; ok {
				t.Errorf("the same serial number as %s", other)
			}
			serials[leaf.SerialNumber.String()] = want.name
			if leaf.Subject.CommonName != want.commonName || strings.Join(leaf.Subject.Organization, ",") != want.organization {
				t.Errorf("subject %v, want %s of %q", leaf.Subject, want.commonName, want.organization)
			}
			for usage, wanted := range map[x509.ExtKeyUsage]bool{
				x509.ExtKeyUsageServerAuth: want.server, x509.ExtKeyUsageClientAuth: want.client,
			} {
				options := x509.VerifyOptions{Roots: roots[want.signer], CurrentTime: issued, KeyUsages: []x509.ExtKeyUsage{usage}}
				if _, err := leaf.Verify(options); (err == nil) != wanted {
					t.Errorf("usage %v: %v, want it to be good: %v", usage, err, wanted)
				}
			}
			for _, host := range slices.Concat(want.dnsNames, want.addresses) {
				if err := leaf.VerifyHostname(host); err != nil {
					t.Error(err)
				}
			}
			for name, pool := range roots {
				options := x509.VerifyOptions{Roots: pool, CurrentTime: issued, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
				if _, err := leaf.Verify(options); (err == nil) != (name == want.signer) {
					t.Errorf("by %s: %v, want the signer %s", name, err, want.signer)
				}
			}
		})
	}
}

// The certificates that serve pods, or on the node, must have these addresses.
// Otherwise clients reject them.
func TestCertificateNames(t *testing.T) {
	const nodeIP = "198.51.100.7"
	l := issue(t, nodeIP)
	for name, hosts := range map[string][]string{
		"apiserver":        {nodeIP, "127.0.0.1", apiServiceIP, "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		"kubelet-server":   {nodeIP, "127.0.0.1", "assay"},
		"kubelet-2-server": {secondAddress, "127.0.0.1", "assay-2"},
		"etcd":             {"127.0.0.1", "localhost"},
	} {
		leaf := readCertificate(t, l.pki(name+".crt"))
		for _, host := range hosts {
			if err := leaf.VerifyHostname(host); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := leaf.VerifyHostname("203.0.113.9"); err == nil {
			t.Errorf("%s serves for any address", name)
		}
	}
}

func TestSecretsAreTheOwnersAlone(t *testing.T) {
	l := issue(t, "198.51.100.7")
	keys, err := filepath.Glob(l.pki("*.key"))
	if err != nil || len(keys) == 0 {
		t.Fatalf("keys %v, %v", keys, err)
	}
	secrets := slices.Concat(keys, []string{l.Kubeconfig()})
	for _, user := range kubeconfigUsers {
		if user != "admin" {
			secrets = append(secrets, l.kubeconfig(user))
		}
	}
	for _, file := range secrets {
		info, err := os.Stat(file)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(file), info.Mode().Perm())
		}
	}
}

func TestCertificatesAreIssuedOnce(t *testing.T) {
	l := issue(t, "198.51.100.7")
	read := func() string {
		content, err := os.ReadFile(l.pki("ca.crt"))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	first := read()
	if err := l.issueCertificates("198.51.100.7", issued.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if read() != first {
		t.Error("issued again although they were there")
	}

	err := l.issueCertificates("198.51.100.8", issued)
	if err == nil || !strings.Contains(err.Error(), "198.51.100.7") || !strings.Contains(err.Error(), "down") {
		t.Errorf("on another address: %v, want the old one and what to do", err)
	}
	if read() != first {
		t.Error("issued again for another address")
	}

	// Interrupted before the marker was written: everything must be issued again.
	if err := os.Remove(l.pki("issued-for")); err != nil {
		t.Fatal(err)
	}
	if err := l.issueCertificates("198.51.100.8", issued); err != nil {
		t.Fatal(err)
	}
	if read() == first {
		t.Error("an unfinished set was kept")
	}
}

func TestExists(t *testing.T) {
	l := Layout{State: filepath.Join(t.TempDir(), "state"), Run: filepath.Join(t.TempDir(), "run")}
	if l.Exists() {
		t.Error("a cluster is there before anything was made")
	}
	if err := os.Mkdir(l.Run, 0o755); err != nil {
		t.Fatal(err)
	}
	if !l.Exists() {
		t.Error("a half made cluster isn't seen")
	}
}
