package result

// Handshake is what a TLS handshake with the target came to, before the load.
type Handshake struct {
	// Protocol is the version, as in TLSv1.3.
	Protocol string `json:"protocol"`
	// Cipher is the cipher suite by its OpenSSL name.
	Cipher string `json:"cipher"`
	// KeyAlgorithm is RSA, ECDSA or Ed25519, and KeySize its size in bits: of the
	// key in the target's certificate.
	KeyAlgorithm string `json:"keyAlgorithm"`
	KeySize      int    `json:"keySize"`
	// Subject and Issuer are the certificate's, as RFC 2253 writes them.
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	// Fingerprint is the SHA-256 of the certificate, in hexadecimal.
	Fingerprint string `json:"fingerprint"`
	// NotAfter is when the certificate expires, in microseconds since the Unix
	// epoch.
	NotAfter int64 `json:"notAfterMicroseconds"`
	// CertificateRequested is whether the target asked for a certificate of the
	// client.
	CertificateRequested bool `json:"certificateRequested"`
}
