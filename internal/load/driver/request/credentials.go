package request

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// Credentials authenticate a client's requests. They are never part of a message.
type Credentials struct{ Username, Password, token string }

// ReadCredentials reads the credentials that scheme needs from the files in directory.
func ReadCredentials(scheme, directory string) (*Credentials, error) {
	values := map[string]string{}
	for _, key := range session.CredentialKeys(scheme) {
		data, err := os.ReadFile(filepath.Join(directory, key))
		if err != nil {
			return nil, fmt.Errorf("read credentials: %w", err)
		}
		value := strings.TrimRight(string(data), "\r\n")
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return nil, fmt.Errorf("credentials: %s must not contain control characters", key)
		}
		values[key] = value
	}
	c := &Credentials{Username: values[session.UsernameKey], Password: values[session.PasswordKey], token: values[session.TokenKey]}
	switch {
	case scheme == session.AuthenticationBasic && strings.Contains(c.Username, ":"):
		return nil, errors.New("credentials: the username must not contain a colon with the scheme Basic (RFC 7617, section 2)")
	case scheme == session.AuthenticationBearer && (c.token == "" || strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r > '~' })):
		return nil, errors.New("credentials: the token must consist of visible ASCII characters (RFC 6750, section 2.1)")
	}
	return c, nil
}

// Authorization returns the value of the Authorization header. It is empty if the scheme
// has no value that stays the same for all requests.
func (c *Credentials) Authorization(scheme string) string {
	switch scheme {
	case session.AuthenticationBasic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Username+":"+c.Password))
	case session.AuthenticationBearer:
		return "Bearer " + c.token
	}
	return ""
}
