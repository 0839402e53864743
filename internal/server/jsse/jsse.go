// Package jsse makes the Java virtual machine of a server speak TLS as declared,
// by its own implementation (JSSE).
package jsse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// TrustStorePassword is the password of the store that TrustStoreScript makes. It
// protects no secret.
const TrustStorePassword = "changeit"

// TLS13Suites are the cipher suites of TLS 1.3 that Java and the clients have.
var TLS13Suites = []string{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}

// SetsProperty returns a function that reports whether an option of the Java
// virtual machine sets a system property.
func SetsProperty(name string) func(option string) bool {
	return func(option string) bool {
		return option == "-D"+name || strings.HasPrefix(option, "-D"+name+"=")
	}
}

// Options returns the options of the Java virtual machine that TLS needs.
// securityFile is the path of the text of Security in the container.
func Options(tls *v1alpha1.TLS, securityFile string) []string {
	var options []string
	if NeedsSecurity(tls) {
		options = append(options, "-Djava.security.properties="+securityFile)
	}
	if !adapter.Resumes(tls) {
		// The first is of Java 13 and later, the second of Java 21 and later.
		options = append(options, "-Djdk.tls.server.enableSessionTicketExtension=false", "-Djdk.tls.server.newSessionTicketCount=0")
	}
	return options
}

// optionSyntax is the pattern that the API server checks too. It keeps a value from becoming
// several options.
var optionSyntax = regexp.MustCompile(`^-[!-~]+$`)

// CheckOptions returns an error if the user's options of the Java virtual machine, which are those
// of field, aren't one per item or conflict with those that TLS needs. usesJSSE reports whether
// the server speaks TLS by JSSE.
func CheckOptions(in *adapter.Input, field string, options []string, usesJSSE bool) error {
	for i, option := range options {
		if !optionSyntax.MatchString(option) {
			return fmt.Errorf("%s[%d]: %q must begin with '-' and have printable ASCII characters without spaces only, one option per item",
				in.Field(field), i, option)
		}
	}
	if usesJSSE && NeedsSecurity(in.TLS) && slices.ContainsFunc(options, SetsProperty("java.security.properties")) {
		return fmt.Errorf("%s: -Djava.security.properties must not be set with TLSv1, TLSv1.1 or a cipher suite without ECDHE, because Assay enables these by it: remove it, or set jdk.tls.disabledAlgorithms in the image's java.security",
			in.Field(field))
	}
	return nil
}

// NeedsSecurity reports whether the declared TLS needs what Java disables by itself.
func NeedsSecurity(tls *v1alpha1.TLS) bool { return adapter.AcceptsOldTLS(tls) || staticRSA(tls) }

// staticRSA reports whether a cipher suite is declared whose keys are exchanged by RSA.
func staticRSA(tls *v1alpha1.TLS) bool {
	old, _ := adapter.CipherSuites(tls)
	return slices.ContainsFunc(old, func(c string) bool { return !strings.HasPrefix(c, "ECDHE-") })
}

// Security returns a file that replaces one property of java.security: the
// algorithms that OpenJDK 17 disables, except for what is declared. TLS_RSA_* is
// disabled since 17.0.19, and is ignored by earlier versions.
func Security(tls *v1alpha1.TLS) string {
	disabled := []string{"SSLv3"}
	for _, p := range []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11} {
		if !slices.Contains(tls.Protocols, p) {
			disabled = append(disabled, string(p))
		}
	}
	disabled = append(disabled, "DTLSv1.0", "RC4", "DES", "MD5withRSA", "DH keySize < 1024", "EC keySize < 224",
		"3DES_EDE_CBC", "anon", "NULL", "ECDH")
	if !staticRSA(tls) {
		disabled = append(disabled, "TLS_RSA_*")
	}
	return "jdk.tls.disabledAlgorithms=" + strings.Join(disabled, ", ") + "\n"
}

// TrustStoreScript returns a shell script that makes a PKCS#12 store of the certificates that
// clients' certificates are checked by, and then runs a command. JSSE reads no PEM. The script uses
// Java's own keytool, which takes one certificate at a time.
func TrustStoreScript(store, command string) string {
	return fmt.Sprintf(`set -eu
java=${JRE_HOME:-${JAVA_HOME:-}}
if [ -n "$java" ]; then keytool=$java/bin/keytool; else keytool=keytool; fi
number=0
certificate=
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
  *"BEGIN CERTIFICATE"*) certificate=$line ;;
  *"END CERTIFICATE"*)
    number=$((number + 1))
    printf '%%s\n%%s\n' "$certificate" "$line" |
      "$keytool" -importcert -noprompt -alias "authority-$number" -keystore %[2]s -storetype PKCS12 -storepass %[3]s
    certificate=
    ;;
  *) certificate="$certificate
$line" ;;
  esac
done <%[1]s
exec %[4]s
`, adapter.ClientCAFile, store, TrustStorePassword, command)
}

// Major returns the feature release of a version of Java, such as 17 for
// 17.0.19+10, or 0 if it is unknown.
func Major(version string) int {
	var major int
	// Java 8 calls itself 1.8.
	_, _ = fmt.Sscanf(strings.TrimPrefix(version, "1."), "%d", &major)
	return major
}
