package driver

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// digest answers the challenges of the scheme Digest (RFC 7616) on behalf of one
// connection. It has one once the server has challenged.
type digest struct {
	credentials *Credentials

	challenged bool
	isSHA256   bool // else MD5
	// prefix is the part of the header that stays the same, key the hash of name,
	// realm and password, nonce the server's.
	prefix, nonce string
	key           sum
	// cnonce is the client's nonce and count how often the server's was used, where
	// the server wants both (qop).
	cnonce string
	count  uint32

	text []byte // that is hashed
}

// sum is a hash in hexadecimal.
type sum struct {
	digits [2 * sha256.Size]byte
	length int
}

func (s *sum) bytes() []byte { return s.digits[:s.length] }

// hash is the sum of d.text.
func (d *digest) hash() (s sum) {
	if d.isSHA256 {
		sum := sha256.Sum256(d.text)
		s.length = hex.Encode(s.digits[:], sum[:])
	} else {
		sum := md5.Sum(d.text)
		s.length = hex.Encode(s.digits[:], sum[:])
	}
	return s
}

// challenge takes up what a server said in WWW-Authenticate fields. It is false
// when there is nothing in it that can be answered.
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

func (d *digest) accept(p map[string]string) bool {
	algorithm, isSession := strings.CutSuffix(strings.ToUpper(p["algorithm"]), "-SESS")
	if algorithm != "" && algorithm != "MD5" && algorithm != "SHA-256" {
		return false
	}
	protects := p["qop"] != ""
	if protects && !strings.Contains(","+strings.ReplaceAll(p["qop"], " ", "")+",", ",auth,") || isSession && !protects || p["nonce"] == "" {
		return false
	}
	d.challenged, d.isSHA256, d.nonce, d.count, d.cnonce = true, algorithm == "SHA-256", p["nonce"], 0, ""
	d.text = fmt.Appendf(d.text[:0], "%s:%s:%s", d.credentials.username, p["realm"], d.credentials.password)
	d.key = d.hash()
	if protects {
		d.cnonce = rand.Text()
	}
	if isSession {
		d.text = fmt.Appendf(d.text[:0], "%s:%s:%s", d.key.bytes(), d.nonce, d.cnonce)
		d.key = d.hash()
	}
	d.prefix = fmt.Sprintf("Authorization: Digest username=%s, realm=%s, nonce=%s", quote(d.credentials.username), quote(p["realm"]), quote(d.nonce))
	if p["algorithm"] != "" {
		d.prefix += ", algorithm=" + p["algorithm"]
	}
	if opaque, given := p["opaque"]; given {
		d.prefix += ", opaque=" + quote(opaque)
	}
	return true
}

// appendField appends the header by which a request answers the challenge.
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

// quote is text as a quoted-string (RFC 9110, section 5.6.4).
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// offered is a challenge: a scheme and its parameters, names in small letters.
type offered struct {
	scheme     string
	parameters map[string]string
}

// parseChallenges reads a WWW-Authenticate field (RFC 9110, section 11.6.1). What
// isn't well-formed ends it.
func parseChallenges(text string) []offered {
	var all []offered
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
		all = append(all, offered{word, map[string]string{}})
		text = rest
	}
}

// cutToken cuts a token off.
func cutToken(text string) (token, rest string) {
	for i := range len(text) {
		if !tokenBytes[text[i]] {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cutValue cuts a token or a quoted-string off, unquoted.
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
