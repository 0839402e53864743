package tomcat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

// tlsImplementations are the classes by which NIO and NIO2 speak TLS
// (https://tomcat.apache.org/tomcat-9.0-doc/config/http.html#SSL_Support).
var tlsImplementations = map[v1alpha1.TLSImplementation]string{
	v1alpha1.TLSJSSE:       "org.apache.tomcat.util.net.jsse.JSSEImplementation",
	v1alpha1.TLSOpenSSL:    "org.apache.tomcat.util.net.openssl.OpenSSLImplementation",
	v1alpha1.TLSOpenSSLFFM: "org.apache.tomcat.util.net.openssl.panama.OpenSSLImplementation",
}

// ffmListener loads OpenSSL for TLSOpenSSLFFM (https://tomcat.apache.org/tomcat-11.0-doc/config/listeners.html).
const ffmListener = "org.apache.catalina.core.OpenSSLLifecycleListener"

// defaultCiphers is the default of Tomcat up to TLS 1.2.
const defaultCiphers = "HIGH:!aNULL:!eNULL:!EXPORT:!DES:!RC4:!MD5:!kRSA"

// tlsImplementation returns what Tomcat speaks TLS by, or an empty string for no TLS.
func tlsImplementation(in *adapter.Input) v1alpha1.TLSImplementation {
	switch {
	case in.TLS == nil:
		return ""
	case protocolOf(in.Server.Tomcat) == v1alpha1.TomcatAPR:
		return v1alpha1.TLSOpenSSL
	}
	return cmp.Or(in.Server.Tomcat.Connector.TLSImplementation, v1alpha1.TLSJSSE)
}

// addTLS makes a connector speak TLS, if the run does.
func addTLS(in *adapter.Input, connector *xmlElement) {
	if in.TLS == nil {
		return
	}
	connector.set("scheme", "https")
	connector.set("secure", "true")
	connector.set("SSLEnabled", "true")
	if protocolOf(in.Server.Tomcat) != v1alpha1.TomcatAPR {
		connector.set("sslImplementationName", tlsImplementations[tlsImplementation(in)])
	}

	host := element("SSLHostConfig", "protocols", strings.Join(adapter.Protocols(in.TLS), "+"))
	if usesJSSE(in) {
		setJSSE(in, &host)
	} else {
		setOpenSSL(in, &host)
	}
	if order := in.Server.Tomcat.Connector.HonorCipherOrder; order != "" {
		host.set("honorCipherOrder", strconv.FormatBool(order == v1alpha1.Enabled))
	}
	if !adapter.Resumes(in.TLS) {
		// Tomcat can't disable its session cache: 0 means unlimited, so 1 is the minimum.
		host.set("sessionCacheSize", "1")
		host.set("sessionTimeout", "1")
	}
	host.add(element("Certificate", "certificateFile", adapter.CertificateFile, "certificateKeyFile", adapter.PrivateKeyFile))
	connector.add(host)
}

func setJSSE(in *adapter.Input, host *xmlElement) {
	old, tls13 := adapter.CipherSuites(in.TLS)
	if len(in.TLS.Ciphers) > 0 {
		// A Tomcat without the attribute cipherSuites uses all of ciphers. One with it
		// (9.0.114, 10.1.51, 11.0.16 and later) moves those of TLS 1.3 there.
		all := old
		switch {
		case len(tls13) > 0:
			all = append(all, tls13...)
			host.set("cipherSuites", strings.Join(tls13, ":"))
		case slices.Contains(adapter.Protocols(in.TLS), string(v1alpha1.TLSv13)):
			all = append(all, jsse.TLS13Suites...)
		}
		host.set("ciphers", strings.Join(all, ":"))
	}
	if store := trustStore(in); store != "" {
		host.set("certificateVerification", "required")
		host.set("truststoreFile", store)
		host.set("truststoreType", "PKCS12")
		host.set("truststorePassword", jsse.TrustStorePassword)
	}
}

func setOpenSSL(in *adapter.Input, host *xmlElement) {
	ciphers, suites := adapter.OpenSSLCiphers(in.TLS, defaultCiphers)
	if ciphers != "" {
		host.set("ciphers", ciphers)
	}
	// Tomcat itself only passes the first certificate of the file to OpenSSL, and has no
	// attribute for suites of TLS 1.3 before 9.0.114, 10.1.51 and 11.0.16.
	commands := element("OpenSSLConf")
	commands.add(element("OpenSSLConfCmd", "name", "Certificate", "value", adapter.CertificateFile))
	if suites != "" {
		commands.add(element("OpenSSLConfCmd", "name", "Ciphersuites", "value", suites))
	}
	if !adapter.Resumes(in.TLS) {
		commands.add(element("OpenSSLConfCmd", "name", "NumTickets", "value", "0"))
	}
	host.add(commands)
	if !adapter.Resumes(in.TLS) {
		host.set("disableSessionTickets", "true")
	}
	if in.TLS.ClientAuthentication != nil {
		host.set("certificateVerification", "required")
		host.set("caCertificateFile", adapter.ClientCAFile)
	}
}

// usesJSSE reports whether Tomcat speaks TLS by JSSE.
func usesJSSE(in *adapter.Input) bool { return tlsImplementation(in) == v1alpha1.TLSJSSE }

// trustStore returns the file from which JSSE reads which client certificates to trust, or an empty
// string if clients need none. It is made when the container starts.
func trustStore(in *adapter.Input) string {
	if !usesJSSE(in) || in.TLS.ClientAuthentication == nil {
		return ""
	}
	_, base := directories(in.Server.Tomcat)
	return base + "/temp/client-authorities.p12"
}
