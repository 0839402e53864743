package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

// causeOf returns an error as a cause: without what differs from request to request, such as ports.
func causeOf(err error) string {
	var errno syscall.Errno
	var operation *net.OpError
	var record tls.RecordHeaderError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &errno):
		if name := unix.ErrnoName(errno); name != "" {
			return name
		}
		return "errno " + strconv.Itoa(int(errno))
	case errors.As(err, &unverified):
		return unverifiedCause(unverified.Err)
	case errors.As(err, &record):
		return "tls: the server doesn't speak TLS"
	case errors.As(err, &operation) && operation.Op == "remote error":
		return alertCause(operation.Err)
	case errors.Is(err, io.EOF):
		return Closed.Cause
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "tls: connection closed without close_notify"
	case operation != nil:
		return Plain(operation.Err.Error())
	}
	return Plain(err.Error())
}

// Plain returns a text as a cause: without its numbers and URLs, which may differ from request to request, cut and made printable.
func Plain(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.Contains(word, "://") {
			words[i] = "URL"
		}
	}
	text = strings.Join(words, " ")
	var b strings.Builder
	for i, c := range text {
		switch {
		case c < '0' || c > '9':
			b.WriteRune(c)
		case i == 0 || text[i-1] < '0' || text[i-1] > '9':
			b.WriteByte('N')
		}
	}
	return printable.Clipped(b.String(), result.MaxCauseBytes)
}

func unverifiedCause(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &authority):
		return "tls: certificate signed by unknown authority"
	case errors.As(err, &name):
		return "tls: certificate not valid for the server name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "tls: certificate has expired or is not yet valid"
	}
	return "tls: certificate rejected: " + Plain(strings.TrimPrefix(err.Error(), "x509: "))
}

// alerts are the names of alerts (RFC 8446, section 6, and the registry "TLS Alerts" of IANA).
var alerts = map[uint64]string{
	0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed", 22: "record_overflow", 30: "decompression_failure",
	40: "handshake_failure", 41: "no_certificate", 42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
	46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error", 51: "decrypt_error",
	52: "too_many_cids_requested", 60: "export_restriction", 70: "protocol_version", 71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
	100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension", 111: "certificate_unobtainable", 112: "unrecognized_name",
	113: "bad_certificate_status_response", 114: "bad_certificate_hash_value", 115: "unknown_psk_identity", 116: "certificate_required", 117: "general_error",
	120: "no_application_protocol", 121: "ech_required",
}

// alertCause names an alert of the server. Its type, which crypto/tls doesn't export, is a number.
func alertCause(err error) string {
	v := reflect.ValueOf(err)
	if !v.CanUint() {
		return Plain(err.Error())
	}
	number := v.Uint()
	name, known := alerts[number]
	if !known {
		name = "unknown"
	}
	return "tls: alert " + name + "(" + strconv.FormatUint(number, 10) + ")"
}
