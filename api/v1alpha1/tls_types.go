package v1alpha1

// TLS says how target and clients speak TLS.
//
// +kubebuilder:validation:XValidation:rule="!has(self.certificate) || !has(self.certificate.secretName) || has(self.serverName) || self.verification == 'None'",fieldPath=".serverName",message="serverName must be set with certificate.secretName: a name that the certificate has"
// +kubebuilder:validation:XValidation:rule="!has(self.ciphers) || !has(self.protocols) || self.protocols.exists(p, p != 'TLSv1.3') || self.ciphers.all(c, c.startsWith('TLS_'))",fieldPath=".ciphers",message="with TLSv1.3 alone ciphers must be of TLS 1.3, which begin with TLS_"
// +kubebuilder:validation:XValidation:rule="!has(self.ciphers) || !has(self.protocols) || 'TLSv1.3' in self.protocols || self.ciphers.exists(c, !c.startsWith('TLS_'))",fieldPath=".ciphers",message="ciphers has only suites of TLS 1.3, but protocols doesn't have TLSv1.3: add the protocol"
// +kubebuilder:validation:XValidation:rule="!has(self.ciphers) || has(self.protocols) || self.ciphers.exists(c, !c.startsWith('TLS_'))",fieldPath=".protocols",message="protocols must be [TLSv1.3] when ciphers has only suites of TLS 1.3"
// +kubebuilder:validation:XValidation:rule="!has(self.ciphers) || !has(self.protocols) || self.protocols.exists(p, p > 'TLSv1.1') || self.ciphers.exists(c, c.endsWith('-SHA') || c.startsWith('TLS_'))",fieldPath=".ciphers",message="ciphers has no suite of TLSv1 and TLSv1.1: they end in -SHA"
// +kubebuilder:validation:XValidation:rule="!has(self.ciphers) || self.?certificate.privateKey.algorithm.orValue('RSA') == 'RSA' || self.ciphers.exists(c, c.contains('-ECDSA-')) || self.ciphers.all(c, c.startsWith('TLS_'))",fieldPath=".ciphers",message="ciphers has no suite for an ECDSA key"
// +kubebuilder:validation:XValidation:rule="!self.?certificate.selfSigned.hasValue() || self.certificate.?privateKey.algorithm.orValue('RSA') != 'RSA' || [self.?ciphers.orValue([])].all(l, l.all(c, c.matches('^TLS_|-ECDSA-')) == l.all(c, c.matches('^TLS_')))",message="ciphers has none for RSA keys"
// +kubebuilder:validation:XValidation:rule="!self.?certificate.issuerRef.hasValue() || self.certificate.?privateKey.algorithm.orValue('RSA') != 'RSA' || [self.?ciphers.orValue([])].all(l, l.all(c, c.matches('^TLS_|-ECDSA-')) == l.all(c, c.matches('^TLS_')))",message="ciphers has none for RSA keys"
// +kubebuilder:validation:XValidation:rule="!has(self.groups) || !has(self.protocols) || 'TLSv1.3' in self.protocols || self.groups.exists(g, g != 'X25519MLKEM768')",fieldPath=".groups",message="X25519MLKEM768 alone needs TLSv1.3: add the protocol, or another group"
type TLS struct {
	// protocols are the versions that server and clients accept, without a gap.
	// Defaults to TLSv1.2 and TLSv1.3. TLSv1 and TLSv1.1 are insecure, and enabled
	// in the server where its libraries still have them.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="!('TLSv1' in self) || 'TLSv1.1' in self || !self.exists(p, p > 'TLSv1.1')",message="protocols must not omit a version between two that it has"
	// +kubebuilder:validation:XValidation:rule="!self.exists(p, p < 'TLSv1.2') || 'TLSv1.2' in self || !('TLSv1.3' in self)",message="protocols must not omit a version between two that it has"
	// +optional
	Protocols []TLSProtocol `json:"protocols,omitempty"`

	// ciphers are the cipher suites that server and clients accept, by OpenSSL's names. TLS 1.3 has
	// its own, beginning with TLS_: of these the clients always offer all, and the server accepts
	// those that are set, or all if none is. Defaults to what both sides have.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Ciphers []CipherSuite `json:"ciphers,omitempty"`

	// groups are the key exchange groups that clients offer. Defaults to X25519, P-256, P-384 and P-521.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +optional
	Groups []KeyExchangeGroup `json:"groups,omitempty"`

	// certificate is the server's. An external server has its own.
	// +optional
	Certificate *Certificate `json:"certificate,omitempty"`

	// serverName is the name that clients send (SNI) and verify the certificate by. Defaults to the
	// first of certificate.dnsNames, or the external url's host.
	// +optional
	ServerName DNSName `json:"serverName,omitempty"`

	// verification says whether clients check the server's certificate: Full or
	// None. Defaults to Full.
	// +default="Full"
	// +optional
	Verification TLSVerification `json:"verification,omitempty"`

	// sessionResumption says whether new connections resume earlier sessions
	// instead of a full handshake. Defaults to Disabled.
	// +default="Disabled"
	// +optional
	SessionResumption Switch `json:"sessionResumption,omitempty"`

	// clientAuthentication makes the server require a client certificate (mutual TLS).
	// +optional
	ClientAuthentication *ClientAuthentication `json:"clientAuthentication,omitempty"`
}

// ClientAuthentication is the clients' certificate.
type ClientAuthentication struct {
	// certificate is the certificate that all clients present. With secretName the Secret must
	// also have ca.crt, the CA bundle that the server verifies clients against.
	// +required
	Certificate Certificate `json:"certificate,omitempty,omitzero"`
}

// Certificate says where a certificate and its key come from.
//
// +kubebuilder:validation:ExactlyOneOf=issuerRef;secretName;selfSigned
// +kubebuilder:validation:XValidation:rule="!has(self.secretName) || (!has(self.privateKey) && !has(self.dnsNames))",fieldPath=".secretName",message="privateKey and dnsNames must not be set with secretName, whose certificate already exists: omit them"
type Certificate struct {
	// issuerRef is the issuer of cert-manager that issues the certificate. The run waits for it.
	// +optional
	IssuerRef *IssuerReference `json:"issuerRef,omitempty"`

	// secretName names a Secret of the type kubernetes.io/tls in the run's namespace. Clients trust
	// its ca.crt, if it has one, and the certificate itself.
	// +optional
	SecretName SecretName `json:"secretName,omitempty"`

	// selfSigned makes the operator create a CA for this run, and the certificate. Set {}.
	// +optional
	SelfSigned *SelfSigned `json:"selfSigned,omitempty"`

	// privateKey is the kind of key. Defaults to RSA with 2048 bits.
	// +optional
	PrivateKey *PrivateKey `json:"privateKey,omitempty"`

	// dnsNames are the names in the certificate. Defaults to NAME-target.NAMESPACE.svc.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	DNSNames []DNSName `json:"dnsNames,omitempty"`
}

// SelfSigned has no settings.
type SelfSigned struct{}

// IssuerReference names an issuer of cert-manager.
type IssuerReference struct {
	// name is the issuer's name.
	// +required
	Name ObjectName `json:"name,omitempty"`

	// kind is the issuer's kind. Defaults to Issuer, which is of the run's
	// namespace; ClusterIssuer is of none.
	// +default="Issuer"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Za-z0-9]*$')",message="kind must be a kind, such as Issuer or ClusterIssuer"
	// +optional
	Kind string `json:"kind,omitempty"`

	// group is the API group of the kind. Defaults to cert-manager.io.
	// +default="cert-manager.io"
	// +optional
	Group ObjectName `json:"group,omitempty"`
}

// PrivateKey is a kind of key.
//
// +kubebuilder:validation:XValidation:rule="!has(self.size) || self.size in (self.?algorithm.orValue(\"\") == 'ECDSA' ? [256, 384] : [2048, 3072, 4096])",fieldPath=".size",message="size must be 2048, 3072 or 4096 with RSA, 256 or 384 with ECDSA"
type PrivateKey struct {
	// algorithm is RSA or ECDSA. Defaults to RSA.
	// +default="RSA"
	// +optional
	Algorithm KeyAlgorithm `json:"algorithm,omitempty"`

	// size is the key's size in bits: 2048, 3072 or 4096 with RSA, 256 (P-256) or
	// 384 (P-384) with ECDSA. Defaults to 2048 and 256.
	// +kubebuilder:validation:Minimum=256
	// +kubebuilder:validation:Maximum=4096
	// +optional
	Size *int32 `json:"size,omitempty"`
}

// KeyAlgorithm is an algorithm of keys.
//
// +kubebuilder:validation:Enum=RSA;ECDSA
type KeyAlgorithm string

// The values of KeyAlgorithm.
const (
	KeyRSA   KeyAlgorithm = "RSA"
	KeyECDSA KeyAlgorithm = "ECDSA"
)

// TLSProtocol is a version of TLS.
//
// +kubebuilder:validation:Enum=TLSv1;TLSv1.1;TLSv1.2;TLSv1.3
type TLSProtocol string

// The versions of TLS.
const (
	TLSv10 TLSProtocol = "TLSv1"
	TLSv11 TLSProtocol = "TLSv1.1"
	TLSv12 TLSProtocol = "TLSv1.2"
	TLSv13 TLSProtocol = "TLSv1.3"
)

// KeyExchangeGroup is a group for the key exchange that Assay's clients have, by OpenSSL's name.
//
// +kubebuilder:validation:Enum=X25519;X25519MLKEM768;P-256;P-384;P-521
type KeyExchangeGroup string

// TLSVerification says how clients check a certificate.
//
// +kubebuilder:validation:Enum=Full;None
type TLSVerification string

// The values of TLSVerification.
const (
	TLSVerifyFull TLSVerification = "Full"
	TLSVerifyNone TLSVerification = "None"
)

// CipherSuite is a cipher suite that Assay's clients have, by OpenSSL's name.
//
// +kubebuilder:validation:Enum=TLS_AES_128_GCM_SHA256;TLS_AES_256_GCM_SHA384;TLS_CHACHA20_POLY1305_SHA256;ECDHE-ECDSA-AES128-GCM-SHA256;ECDHE-ECDSA-AES256-GCM-SHA384;ECDHE-ECDSA-CHACHA20-POLY1305;ECDHE-ECDSA-AES128-SHA256;ECDHE-ECDSA-AES128-SHA;ECDHE-ECDSA-AES256-SHA;ECDHE-RSA-AES128-GCM-SHA256;ECDHE-RSA-AES256-GCM-SHA384;ECDHE-RSA-CHACHA20-POLY1305;ECDHE-RSA-AES128-SHA256;ECDHE-RSA-AES128-SHA;ECDHE-RSA-AES256-SHA;AES128-GCM-SHA256;AES256-GCM-SHA384;AES128-SHA256;AES128-SHA;AES256-SHA
type CipherSuite string
