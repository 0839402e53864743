package probe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/assay-dev/assay/internal/targettls"
)

// plain says what was seen of a target instead of an answer. It leaves out what
// differs from one attempt to the next, such as ports.
func (q *attempt) plain(err error) error {
	var named *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &named):
		return fmt.Errorf("the address of %s can't be found: %s", named.Name, named.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("connection reset")
	case timedOut(err):
		return fmt.Errorf("no answer within %s", q.Timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was closed before the answer was complete")
	case strings.HasPrefix(err.Error(), `malformed HTTP response "\x15\x03`) && q.TLS == nil:
		return errors.New("the server speaks TLS, but was asked without")
	case targettls.Alert(err) != "":
		return q.refused(targettls.Alert(err)) // in TLS 1.3 it comes after the client's part of the handshake
	case errors.As(err, &operation):
		return operation.Err
	}
	return err
}

// handshakeError says how a TLS handshake failed, and what to change.
func (q *attempt) handshakeError(err error) error {
	var record tls.RecordHeaderError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &record):
		if strings.HasPrefix(string(record.RecordHeader[:]), "HTTP") {
			return errors.New("the server speaks plain HTTP where TLS was expected")
		}
		return errors.New("the server doesn't speak TLS")
	case errors.As(err, &unverified):
		return distrust(unverified)
	case targettls.Alert(err) == "no application protocol":
		return q.noHTTP2()
	case targettls.Alert(err) != "":
		return q.refused(targettls.Alert(err))
	case timedOut(err):
		return fmt.Errorf("no TLS handshake within %s", q.Timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed the connection in the TLS handshake")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("the server reset the connection in the TLS handshake")
	case strings.Contains(err.Error(), "server selected unsupported protocol version"):
		return fmt.Errorf("the server has none of the TLS protocols %s: change tls.protocols", q.offered())
	}
	return fmt.Errorf("the TLS handshake failed: %s", strings.TrimPrefix(err.Error(), "tls: "))
}

// distrust says why the server's certificate wasn't accepted.
func distrust(unverified *tls.CertificateVerificationError) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch err := unverified.Err; {
	case errors.As(err, &unknown):
		issuer := ""
		if len(unverified.UnverifiedCertificates) > 0 {
			issuer = " " + unverified.UnverifiedCertificates[0].Issuer.String()
		}
		return fmt.Errorf("the server's certificate is from an authority that isn't known,%s: give the authority's certificate, or set tls.verification to None", issuer)
	case errors.As(err, &name):
		names := slices.Clone(name.Certificate.DNSNames)
		for _, address := range name.Certificate.IPAddresses {
			names = append(names, address.String())
		}
		if len(names) == 0 {
			return fmt.Errorf("the server's certificate has no names (subjectAltName) to be checked, and can't be %s's: have one issued with names, or set tls.verification to None", name.Host)
		}
		return fmt.Errorf("the server's certificate isn't %s's, but for %s: set tls.serverName to one of these", name.Host, strings.Join(names, ", "))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("the server's certificate is valid from %s to %s alone: renew it, or set tls.verification to None",
			invalid.Cert.NotBefore.UTC().Format("2006-01-02T15:04Z"), invalid.Cert.NotAfter.UTC().Format("2006-01-02T15:04Z"))
	default:
		return fmt.Errorf("the server's certificate isn't accepted: %s", strings.TrimPrefix(err.Error(), "x509: "))
	}
}

// refused says what a server means that ends TLS with an alert (RFC 8446,
// section 6.2).
func (q *attempt) refused(alert string) error {
	// What servers say to a client that has been asked for a certificate, and has
	// presented none, differs.
	if q.requested && q.TLS.GetClientCertificate == nil &&
		slices.Contains([]string{"certificate required", "bad certificate", "handshake failure"}, alert) {
		return errors.New("the server demands a client certificate: give tls.clientAuthentication")
	}
	switch alert {
	case "protocol version not supported":
		return fmt.Errorf("the server has none of the TLS protocols %s: change tls.protocols", q.offered())
	case "handshake failure", "insufficient security level":
		return fmt.Errorf("the server refuses the TLS handshake (alert %q): it has none of the cipher suites that were offered with %s, or no certificate that goes with them: change tls.ciphers",
			alert, q.offered())
	case "certificate required", "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate", "unknown certificate",
		"unknown certificate authority", "access denied":
		return fmt.Errorf("the server refuses the client's certificate (alert %q): have one issued by an authority that the server trusts", alert)
	case "unrecognized name":
		return fmt.Errorf("the server has no site of the name %s: change tls.serverName", q.TLS.ServerName)
	}
	return fmt.Errorf("the server ended TLS with the alert %q", alert)
}

// offered are the versions that were offered.
func (q *attempt) offered() string { return strings.Join(targettls.Protocols(q.TLS), ", ") }

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
