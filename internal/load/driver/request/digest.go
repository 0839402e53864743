package request

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/load/driver/response"
)

// digest answers a server's challenge of the Digest scheme (RFC 7616) for one connection.
type digest struct {
	credentials *Credentials

	// challenged reports whether the server has sent a challenge.
	challenged bool
	useSHA256  bool // otherwise MD5
	// prefix is the part of the header that is the same for all requests. nonce is the
	// server's nonce. key is H(A1), the hash of username, realm and password.
	prefix, nonce string
	key           sum
	// cnonce is the client's nonce, or empty if the server doesn't support qop. count is the
	// number of uses of the server's nonce.
	cnonce string
	count  uint32

	text []byte // input of hash
}

// sum is a hash in hexadecimal digits.
type sum struct {
	digits [2 * sha256.Size]byte
	length int
}

func (s *sum) bytes() []byte { return s.digits[:s.length] }

// hash returns the hash of d.text.
func (d *digest) hash() (s sum) {
	if d.useSHA256 {
		sum := sha256.Sum256(d.text)
		s.length = hex.Encode(s.digits[:], sum[:])
	} else {
		sum := md5.Sum(d.text)
		s.length = hex.Encode(s.digits[:], sum[:])
	}
	return s
}

// challenge accepts the first supported challenge in the WWW-Authenticate fields. It
// returns false if there is none.
func (d *digest) challenge(fields []string) bool {
	for _, field := range fields {
		for _, c := range parseChallenges(field) {
			if strings.EqualFold(c.scheme, "Digest") && d.accept(c.parameters) {
				return true
			}
		}
	}
	return false
}

// accept prepares the answer to a challenge with the parameters p. It returns false if
// the algorithm or qop isn't supported.
func (d *digest) accept(p map[string]string) bool {
	algorithm, isSession := strings.CutSuffix(strings.ToUpper(p["algorithm"]), "-SESS")
	if algorithm != "" && algorithm != "MD5" && algorithm != "SHA-256" {
		return false
	}
	hasQOP := p["qop"] != ""
	if hasQOP && !strings.Contains(","+strings.ReplaceAll(p["qop"], " ", "")+",", ",auth,") || isSession && !hasQOP || p["nonce"] == "" {
		return false
	}
	d.challenged, d.useSHA256, d.nonce, d.count, d.cnonce = true, algorithm == "SHA-256", p["nonce"], 0, ""
	d.text = fmt.Appendf(d.text[:0], "%s:%s:%s", d.credentials.Username, p["realm"], d.credentials.Password)
	d.key = d.hash()
	if hasQOP {
		d.cnonce = rand.Text()
	}
	if isSession {
		d.text = fmt.Appendf(d.text[:0], "%s:%s:%s", d.key.bytes(), d.nonce, d.cnonce)
		d.key = d.hash()
	}
	d.prefix = fmt.Sprintf("Authorization: Digest username=%s, realm=%s, nonce=%s", quote(d.credentials.Username), quote(p["realm"]), quote(d.nonce))
	if p["algorithm"] != "" {
		d.prefix += ", algorithm=" + p["algorithm"]
	}
	if opaque, given := p["opaque"]; given {
		d.prefix += ", opaque=" + quote(opaque)
	}
	return true
}

// AppendField appends the Authorization header of a request.
func (d *digest) appendField(text []byte, method, path string) []byte {
	d.text = append(append(append(d.text[:0], method...), ':'), path...)
	request := d.hash()
	text = append(append(append(text, d.prefix...), `, uri="`...), path...)

	d.text = append(append(append(d.text[:0], d.key.bytes()...), ':'), d.nonce...)
	if d.cnonce != "" {
		d.count++
		var used [8]byte
		for i, rest := len(used)-1, d.count; i >= 0; i, rest = i-1, rest>>4 {
			used[i] = "0123456789abcdef"[rest&15]
		}
		text = append(append(append(text, `", qop=auth, nc=`...), used[:]...), `, cnonce="`...)
		text = append(text, d.cnonce...)
		d.text = append(append(append(d.text, ':'), used[:]...), ':')
		d.text = append(append(d.text, d.cnonce...), ":auth"...)
	}
	d.text = append(append(d.text, ':'), request.bytes()...)
	response := d.hash()
	text = append(append(text, `", response="`...), response.bytes()...)
	return append(text, "\"\r\n"...)
}

// quote returns text as a quoted-string (RFC 9110, section 5.6.4).
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// authChallenge is a scheme and its parameters, whose names are in lowercase.
type authChallenge struct {
	scheme     string
	parameters map[string]string
}

// parseChallenges parses a WWW-Authenticate field (RFC 9110, section 11.6.1). It stops at
// the first malformed part.
func parseChallenges(text string) []authChallenge {
	var all []authChallenge
	for {
		text = strings.TrimLeft(text, " \t,")
		word, rest := cutToken(text)
		if word == "" {
			return all
		}
		if after := strings.TrimLeft(rest, " \t"); strings.HasPrefix(after, "=") && len(all) > 0 {
			value, left, ok := cutValue(strings.TrimLeft(after[1:], " \t"))
			if !ok {
				return all
			}
			all[len(all)-1].parameters[strings.ToLower(word)] = value
			text = left
			continue
		}
		all = append(all, authChallenge{word, map[string]string{}})
		text = rest
	}
}

// cutToken splits text after its leading token.
func cutToken(text string) (token, rest string) {
	for i := range len(text) {
		if !response.TokenBytes[text[i]] {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cutValue splits text after its leading token or quoted-string, which it returns unquoted.
func cutValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest = cutToken(text)
		return value, rest, value != ""
	}
	var unquoted strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return unquoted.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			unquoted.WriteByte(text[i])
		default:
			unquoted.WriteByte(c)
		}
	}
	return "", "", false
}
