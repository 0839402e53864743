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

// plain returns why a probe failed, without what differs between attempts, such as ports.
func (q *attempt) plain(err error) error {
	var named *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &named):
		return fmt.Errorf("resolve %s: %s", named.Name, named.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("connection reset")
	case timedOut(err):
		return fmt.Errorf("no response within %s", q.Timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was closed before the response was complete")
	case targettls.Alert(err) != "":
		return q.alertError(targettls.Alert(err)) // in TLS 1.3 it follows the client's part of the handshake
	case errors.As(err, &operation):
		return operation.Err
	}
	return err
}

// handshakeError returns why a TLS handshake failed, and what to change.
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
		return unverifiedError(unverified)
	case targettls.Alert(err) == "no application protocol":
		return q.noHTTP2()
	case targettls.Alert(err) != "":
		return q.alertError(targettls.Alert(err))
	case timedOut(err):
		return fmt.Errorf("no TLS handshake within %s", q.Timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed the connection in the TLS handshake")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("the server reset the connection in the TLS handshake")
	case strings.Contains(err.Error(), "server selected unsupported protocol version"):
		return fmt.Errorf("the server supports none of the TLS protocols %s: change tls.protocols", q.offered())
	}
	return fmt.Errorf("the TLS handshake failed: %s", strings.TrimPrefix(err.Error(), "tls: "))
}

func unverifiedError(unverified *tls.CertificateVerificationError) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch err := unverified.Err; {
	case errors.As(err, &unknown):
		issuer := ""
		if len(unverified.UnverifiedCertificates) > 0 {
			issuer = " " + unverified.UnverifiedCertificates[0].Issuer.String()
		}
		return fmt.Errorf("the server's certificate was issued by an unknown CA,%s: set the CA's certificate, or set tls.verification to None", issuer)
	case errors.As(err, &name):
		names := slices.Clone(name.Certificate.DNSNames)
		for _, address := range name.Certificate.IPAddresses {
			names = append(names, address.String())
		}
		if len(names) == 0 {
			return fmt.Errorf("the server's certificate has no names (subjectAltName), so it can't be verified for %s: use one with names, or set tls.verification to None", name.Host)
		}
		return fmt.Errorf("the server's certificate is not valid for %s, only for %s: set tls.serverName to one of these", name.Host, strings.Join(names, ", "))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("the server's certificate is only valid from %s to %s: renew it, or set tls.verification to None",
			invalid.Cert.NotBefore.UTC().Format("2006-01-02T15:04Z"), invalid.Cert.NotAfter.UTC().Format("2006-01-02T15:04Z"))
	default:
		return fmt.Errorf("the server's certificate was rejected: %s", strings.TrimPrefix(err.Error(), "x509: "))
	}
}

// alertError returns what an alert of the server means (RFC 8446, section 6.2).
func (q *attempt) alertError(alert string) error {
	// Servers send different alerts if they requested a client certificate and got none.
	if q.requested && q.TLS.GetClientCertificate == nil &&
		slices.Contains([]string{"certificate required", "bad certificate", "handshake failure"}, alert) {
		return errors.New("the server requires a client certificate: set tls.clientAuthentication")
	}
	switch alert {
	case "protocol version not supported":
		return fmt.Errorf("the server supports none of the TLS protocols %s: change tls.protocols", q.offered())
	case "handshake failure", "insufficient security level":
		return fmt.Errorf("the server rejected the TLS handshake (alert %q): it supports none of the cipher suites that were offered with %s, or has no certificate for them: change tls.ciphers",
			alert, q.offered())
	case "certificate required", "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate", "unknown certificate",
		"unknown certificate authority", "access denied":
		return fmt.Errorf("the server rejected the client's certificate (alert %q): use one issued by a CA that the server trusts", alert)
	case "unrecognized name":
		return fmt.Errorf("the server has no site named %s: change tls.serverName", q.TLS.ServerName)
	}
	return fmt.Errorf("the server closed TLS with the alert %q", alert)
}

func (q *attempt) offered() string { return strings.Join(targettls.Protocols(q.TLS), ", ") }

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
