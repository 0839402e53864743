package targettls

import "crypto/tls"

// ProtocolHTTP2 is the ALPN protocol name of HTTP/2 over TLS (RFC 9113, section 3.2).
const ProtocolHTTP2 = "h2"

// HTTP2 returns a copy of config that offers only HTTP/2, or nil if config is nil.
func HTTP2(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.NextProtos = []string{ProtocolHTTP2}
	return config
}
