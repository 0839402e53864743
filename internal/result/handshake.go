package result

// Handshake is the outcome of a TLS handshake with the target, before the load.
type Handshake struct {
	// Protocol is the version, as in TLSv1.3.
	Protocol string `json:"protocol"`
	// Cipher is the cipher suite by its OpenSSL name.
	Cipher string `json:"cipher"`
	// Group is the group of the key exchange by its OpenSSL name. It is empty if the server's RSA key
	// was used for that.
	Group string `json:"group,omitempty"`
	// KeyAlgorithm is RSA, ECDSA or Ed25519, and KeySize the size in bits of the key in
	// the target's certificate.
	KeyAlgorithm string `json:"keyAlgorithm"`
	KeySize      int    `json:"keySize"`
	// Subject and Issuer are those of the certificate, in the form of RFC 2253.
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	// Fingerprint is the SHA-256 of the certificate, in hexadecimal.
	Fingerprint string `json:"fingerprint"`
	// NotAfter is the time at which the certificate expires, in microseconds since the Unix epoch.
	NotAfter int64 `json:"notAfterMicroseconds"`
	// CertificateRequested reports whether the target requested a certificate of the client.
	CertificateRequested bool `json:"certificateRequested"`
}
