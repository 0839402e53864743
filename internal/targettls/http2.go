package targettls

import "crypto/tls"

// ProtocolHTTP2 is HTTP/2 over TLS in the words of ALPN (RFC 9113, section 3.2).
const ProtocolHTTP2 = "h2"

// HTTP2 is a configuration by which nothing but HTTP/2 is offered; nil without
// one.
func HTTP2(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.NextProtos = []string{ProtocolHTTP2}
	return config
}
