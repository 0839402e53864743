package native

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certificate describes one certificate of the cluster.
type certificate struct {
	name         string
	commonName   string
	organization string
	signer       string
	server       bool
	client       bool
	dnsNames     []string
	addresses    []string
}

// certificates returns all leaf certificates. The serving ones have the node's address.
func certificates(nodeIP string) []certificate {
	loopback := []string{"127.0.0.1", "::1"}
	return []certificate{
		{name: "etcd", commonName: "etcd", signer: "ca", server: true, client: true, dnsNames: []string{"localhost"}, addresses: loopback},
		{name: "etcd-client", commonName: "kube-apiserver-etcd-client", signer: "ca", client: true},
		{
			name: "apiserver", commonName: "kube-apiserver", signer: "ca", server: true,
			dnsNames: []string{
				"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
				"kubernetes.default.svc." + clusterDomain,
			},
			addresses: append([]string{apiServiceIP, nodeIP}, loopback...),
		},
		{name: "apiserver-kubelet-client", commonName: "kube-apiserver-kubelet-client", organization: "system:masters", signer: "ca", client: true},
		{name: "front-proxy-client", commonName: "front-proxy-client", signer: "front-proxy-ca", client: true},
		firstNode.serving(nodeIP),
		secondNode.serving(secondAddress),
		{name: "admin", commonName: "assay-cluster-admin", organization: "system:masters", signer: "ca", client: true},
		{name: "kube-controller-manager", commonName: "system:kube-controller-manager", signer: "ca", client: true},
		{name: "kube-scheduler", commonName: "system:kube-scheduler", signer: "ca", client: true},
		{name: "kube-proxy", commonName: "system:kube-proxy", signer: "ca", client: true},
		firstNode.identity(),
		secondNode.identity(),
	}
}

func (n node) serving(address string) certificate {
	return certificate{
		name: n.user + "-server", commonName: n.name, signer: "ca", server: true,
		dnsNames: []string{n.name}, addresses: []string{address, "127.0.0.1", "::1"},
	}
}

func (n node) identity() certificate {
	return certificate{name: n.user, commonName: "system:node:" + n.name, organization: "system:nodes", signer: "ca", client: true}
}

// kubeconfigUsers lists the certificates for which a kubeconfig is written.
var kubeconfigUsers = []string{"admin", "kube-controller-manager", "kube-scheduler", "kube-proxy", firstNode.user}

// issueCertificates writes the two CAs, the leaf certificates, the service account
// key and the kubeconfigs unless they exist. It writes a marker file last, so that
// an incomplete set is recognized and issued again.
func (l Layout) issueCertificates(nodeIP string, now time.Time) error {
	marker := l.pki("issued-for")
	if have, err := os.ReadFile(marker); err == nil {
		if string(have) == nodeIP {
			return nil
		}
		return fmt.Errorf("the cluster was created when this machine had the address %s, which is now %s: run `down`, then `up`", have, nodeIP)
	}
	cas := map[string]*ca{}
	for _, name := range []string{"ca", "front-proxy-ca"} {
		made, err := newCA(name, now)
		if err != nil {
			return err
		}
		if err := l.writePair(name, made.certificate.Raw, made.key); err != nil {
			return err
		}
		cas[name] = made
	}
	for _, c := range certificates(nodeIP) {
		der, key, err := cas[c.signer].issue(c, now)
		if err != nil {
			return fmt.Errorf("certificate %s: %w", c.name, err)
		}
		if err := l.writePair(c.name, der, key); err != nil {
			return err
		}
	}
	serviceAccounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := writeKey(l.pki("service-accounts.key"), serviceAccounts); err != nil {
		return err
	}
	for _, user := range kubeconfigUsers {
		if err := l.writeKubeconfig(user, "127.0.0.1"); err != nil {
			return err
		}
	}
	return os.WriteFile(marker, []byte(nodeIP), 0o644)
}

// ca is a CA certificate with its key.
type ca struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// A cluster is removed long before its certificates expire.
const lifetime = 10 * 365 * 24 * time.Hour

func newCA(name string, now time.Time) (*ca, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "assay-cluster-" + name},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, key, err := (&ca{}).sign(template, now)
	if err != nil {
		return nil, fmt.Errorf("CA %s: %w", name, err)
	}
	parsed, err := x509.ParseCertificate(der)
	return &ca{certificate: parsed, key: key}, err
}

func (a *ca) issue(c certificate, now time.Time) ([]byte, *ecdsa.PrivateKey, error) {
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: c.commonName},
		KeyUsage: x509.KeyUsageDigitalSignature,
		DNSNames: c.dnsNames,
	}
	if c.organization != "" {
		template.Subject.Organization = []string{c.organization}
	}
	for _, address := range c.addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	if c.server {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if c.client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	return a.sign(template, now)
}

// sign completes and signs a certificate with a new key. A CA without a key makes it self-signed.
func (a *ca) sign(template *x509.Certificate, now time.Time) (der []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(lifetime)
	parent, signer := a.certificate, a.key
	if signer == nil {
		parent, signer = template, key
	}
	der, err = x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	return der, key, err
}

func (l Layout) writePair(name string, der []byte, key *ecdsa.PrivateKey) error {
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(l.pki(name+".crt"), block, 0o644); err != nil {
		return err
	}
	return writeKey(l.pki(name+".key"), key)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// writeKubeconfig writes the kubeconfig of one user for the API server at an address. It
// embeds the user's certificate, so that the file can be copied.
func (l Layout) writeKubeconfig(user, server string) error {
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
    server: https://%s:%d
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
`, server, apiPort, parts[0], user, parts[1], parts[2], user)
	return os.WriteFile(file, []byte(content), 0o600)
}
