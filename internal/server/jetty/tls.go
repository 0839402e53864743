package jetty

import (
	"crypto/tls"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

// keyStoreFile is the file of keyStoreXML.
const keyStoreFile = ownDirectory + "/keystore.xml"

// keyStoreXML makes a key store of the server's certificate and key, which Jetty doesn't read from
// PEM. The kind of key follows from the beginning of its PKCS#8 encoding; nothing of another
// encoding gets into a message. The store's password protects no secret.
const keyStoreXML = xmlHeader + `<Configure id="sslContextFactory" class="org.eclipse.jetty.util.ssl.SslContextFactory$Server">
  <Call class="java.security.cert.CertificateFactory" name="getInstance">
    <Arg>X.509</Arg>
    <Call name="generateCertificates">
      <Arg><New class="java.io.FileInputStream"><Arg type="String">` + adapter.CertificateFile + `</Arg></New></Arg>
      <Call id="chain" name="toArray"><Arg><Array type="java.security.cert.Certificate"/></Arg></Call>
    </Call>
  </Call>
  <Call class="java.nio.file.Files" name="readString">
    <Arg><Call class="java.nio.file.Path" name="of"><Arg>` + adapter.PrivateKeyFile + `</Arg><Arg><Array type="java.lang.String"/></Arg></Call></Arg>
    <Call id="base64" name="replaceAll"><Arg>-----[A-Z ]+-----</Arg><Arg>#</Arg></Call>
  </Call>
  <Call class="java.util.Base64" name="getMimeDecoder">
    <Call id="der" name="decode"><Arg type="String"><Ref refid="base64"/></Arg></Call>
  </Call>
  <New class="java.lang.String">
    <Arg><Ref refid="der"/></Arg><Arg>ISO-8859-1</Arg>
    <Call name="replaceFirst">
      <Arg>(?s)^.{5,8}\x30.\x06\x07\x2a\x86\x48\xce\x3d\x02\x01.*</Arg><Arg>EC</Arg>
      <Call name="replaceFirst">
        <Arg>(?s)^.{5,8}\x30.\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01.*</Arg><Arg>RSA</Arg>
        <Call id="algorithm" name="replaceFirst"><Arg>(?s)^(?!(RSA|EC)$).*</Arg><Arg>PKCS#8</Arg></Call>
      </Call>
    </Call>
  </New>
  <Call class="java.security.KeyFactory" name="getInstance">
    <Arg type="String"><Ref refid="algorithm"/></Arg>
    <Call id="key" name="generatePrivate">
      <Arg><New class="java.security.spec.PKCS8EncodedKeySpec"><Arg><Ref refid="der"/></Arg></New></Arg>
    </Call>
  </Call>
  <New class="java.lang.String"><Arg type="String">` + jsse.TrustStorePassword + `</Arg><Call id="password" name="toCharArray"/></New>
  <Call id="store" class="java.security.KeyStore" name="getInstance">
    <Arg>PKCS12</Arg>
    <Call name="load"><Arg/><Arg/></Call>
    <Call name="setKeyEntry"><Arg>server</Arg><Arg><Ref refid="key"/></Arg><Arg><Ref refid="password"/></Arg><Arg><Ref refid="chain"/></Arg></Call>
  </Call>
  <Call name="setKeyStoreResource"><Arg/></Call>
  <Set name="keyStore"><Ref refid="store"/></Set>
  <Set name="keyStorePassword">` + jsse.TrustStorePassword + `</Set>
</Configure>
`

// tlsFile is the file of tlsXML.
const tlsFile = ownDirectory + "/tls.xml"

// tlsXML has settings be read from properties that Jetty 12.1 has and 12.0 lacks, with the same defaults.
const tlsXML = xmlHeader + `<Configure id="sslContextFactory" class="org.eclipse.jetty.util.ssl.SslContextFactory$Server">
  <Set name="includeProtocols"><Call class="org.eclipse.jetty.util.StringUtil" name="csvSplit"><Arg>
    <Property name="jetty.sslContext.includeProtocols" default=""/>
  </Arg></Call></Set>
  <Set name="includeCipherSuites"><Call class="org.eclipse.jetty.util.StringUtil" name="csvSplit"><Arg>
    <Property name="jetty.sslContext.includeCipherSuites" default=""/>
  </Arg></Call></Set>
  <Set name="excludeCipherSuites"><Call class="org.eclipse.jetty.util.StringUtil" name="csvSplit"><Arg>
    <Property name="jetty.sslContext.excludeCipherSuites" default="^.*_(MD5|SHA|SHA1)$,^SSL_.*$,^.*_NULL_.*$,^.*_anon_.*$"/>
  </Arg></Call></Set>
  <Set name="sessionCachingEnabled" property="jetty.sslContext.sessionCachingEnabled"/>
</Configure>
`

// weakSuites are the cipher suites that Jetty excludes even if they are declared,
// apart from those that TLS 1.0 and 1.1 and an RSA key exchange need
// (SslContextFactory.DEFAULT_EXCLUDED_CIPHER_SUITES).
const weakSuites = "^.*_MD5$,^SSL_.*$,^.*_NULL_.*$,^.*_anon_.*$"

// writeTLS writes the settings of TLS, if the run has it.
func writeTLS(f *adapter.Text, in *adapter.Input) {
	if in.TLS == nil {
		return
	}
	f.Line("")
	f.Line("# The file must exist; keystore.xml replaces the store.")
	f.Line("jetty.sslContext.keyStorePath=%s", adapter.CertificateFile)
	f.Line("%s", keyStoreFile)
	f.Line("%s", tlsFile)
	// A request may have another Host than the certificate, as with other servers.
	f.Line("jetty.ssl.sniHostCheck=false")
	f.Line("jetty.sslContext.includeProtocols=%s", strings.Join(adapter.Protocols(in.TLS), ","))
	if suites := includedSuites(in.TLS); suites != nil {
		f.Line("jetty.sslContext.includeCipherSuites=%s", strings.Join(suites, ","))
	}
	if jsse.NeedsSecurity(in.TLS) || len(in.TLS.Ciphers) > 0 {
		f.Line("jetty.sslContext.excludeCipherSuites=%s", weakSuites)
	}
	if !adapter.Resumes(in.TLS) {
		f.Line("jetty.sslContext.sessionCachingEnabled=false")
		// Jetty has no switch: 0 is without limit, so that the least is 1.
		f.Line("jetty.sslContext.sslSessionCacheSize=1")
		f.Line("jetty.sslContext.sslSessionTimeout=1")
	}
	if store := trustStore(in); store != "" {
		f.Line("jetty.sslContext.needClientAuth=true")
		f.Line("jetty.sslContext.trustStorePath=%s", store)
		f.Line("jetty.sslContext.trustStoreType=PKCS12")
		f.Line("jetty.sslContext.trustStorePassword=%s", jsse.TrustStorePassword)
	}
}

// includedSuites returns the cipher suites by Java's names, or nil for Jetty's own.
func includedSuites(t *v1alpha1.TLS) []string {
	if len(t.Ciphers) == 0 {
		return nil
	}
	old, tls13 := adapter.CipherSuites(t)
	if len(tls13) == 0 && slices.Contains(adapter.Protocols(t), string(v1alpha1.TLSv13)) {
		tls13 = jsse.TLS13Suites
	}
	var names []string
	for _, suite := range slices.Concat(tls13, old) {
		id, _ := cipher.ID(suite) // checked before
		names = append(names, tls.CipherSuiteName(id))
	}
	return names
}

// trustStore returns the file from which Jetty reads which client certificates to trust, or an
// empty string if clients need none. It is made when the container starts.
func trustStore(in *adapter.Input) string {
	if in.TLS.ClientAuthentication == nil {
		return ""
	}
	return baseOf(in.Server.Jetty) + "/work/client-ca.p12"
}
