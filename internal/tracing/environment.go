package tracing

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Variables of the environment, by the OpenTelemetry specification
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Those of traces precede the general ones.
const (
	prefix       = "OTEL_EXPORTER_OTLP_"
	tracesPrefix = prefix + "TRACES_"
)

// check reports whether the environment names a receiver of traces. It rejects what OpenTelemetry itself would
// ignore, or would send elsewhere. Errors have no values.
func check(getenv func(string) string) (on bool, err error) {
	variable := func(name string) (key, value string) {
		for _, key := range []string{tracesPrefix + name, prefix + name} {
			if value := strings.TrimSpace(getenv(key)); value != "" {
				return key, value
			}
		}
		return "", ""
	}
	key, endpoint := variable("ENDPOINT")
	disabled, _ := strconv.ParseBool(getenv("OTEL_SDK_DISABLED"))
	if endpoint == "" || disabled || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false, nil
	}
	secure, err := checkEndpoint(key, endpoint)
	if err != nil {
		return false, err
	}
	if key, protocol := variable("PROTOCOL"); protocol != "" && protocol != "grpc" {
		return false, fmt.Errorf("%s must be grpc", key)
	}
	if key, value := variable("INSECURE"); secure && value != "" {
		if insecure, err := strconv.ParseBool(value); err != nil || insecure {
			return false, fmt.Errorf("%s must be false for an endpoint that begins with https://", key)
		}
	}
	if key, headers := variable("HEADERS"); headers != "" {
		if err := checkHeaders(headers); err != nil {
			return false, fmt.Errorf("%s must be KEY=VALUE, separated by commas, with percent-encoded values", key)
		}
	}
	return true, checkFiles(variable)
}

// checkEndpoint checks the URL of a gRPC server, and reports whether it has TLS.
func checkEndpoint(key, endpoint string) (secure bool, err error) {
	parsed, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return false, fmt.Errorf("%s must be a URL", key)
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return false, fmt.Errorf("%s must begin with http://, or with https:// for TLS", key)
	case parsed.Hostname() == "" || strings.Trim(parsed.Path, "/") != "" || parsed.RawQuery != "" || parsed.Fragment != "":
		return false, fmt.Errorf("%s must have a host and may have a port, and nothing else", key)
	case parsed.User != nil:
		return false, fmt.Errorf("%s must have no user: set %sHEADERS", key, prefix)
	}
	return parsed.Scheme == "https", nil
}

func checkHeaders(headers string) error {
	for header := range strings.SplitSeq(headers, ",") {
		name, value, ok := strings.Cut(header, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return errors.New("no KEY=VALUE")
		}
		if _, err := url.PathUnescape(value); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles checks the files of the CA and of the client's certificate.
func checkFiles(variable func(name string) (key, value string)) error {
	if key, path := variable("CERTIFICATE"); path != "" {
		bundle, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(bundle) {
			return fmt.Errorf("%s: %s has no certificate in PEM", key, path)
		}
	}
	certificateKey, certificate := variable("CLIENT_CERTIFICATE")
	keyKey, key := variable("CLIENT_KEY")
	switch {
	case certificate == "" && key == "":
	case certificate == "":
		return fmt.Errorf("%s needs %sCLIENT_CERTIFICATE", keyKey, prefix)
	case key == "":
		return fmt.Errorf("%s needs %sCLIENT_KEY", certificateKey, prefix)
	default:
		if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
			return fmt.Errorf("%s: %w", certificateKey, err)
		}
	}
	return nil
}
