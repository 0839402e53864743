package driver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// Credentials are what a client authenticates its requests with. They are in no
// message.
type Credentials struct{ username, password, token string }

// ReadCredentials reads what a scheme needs from the files in a folder,
// session.CredentialsFolder but in tests.
func ReadCredentials(scheme, folder string) (*Credentials, error) {
	values := map[string]string{}
	for _, key := range session.CredentialKeys(scheme) {
		data, err := os.ReadFile(filepath.Join(folder, key))
		if err != nil {
			return nil, fmt.Errorf("the credentials: %w", err)
		}
		value := strings.TrimRight(string(data), "\r\n")
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return nil, fmt.Errorf("the credentials: %s has control characters", key)
		}
		values[key] = value
	}
	c := &Credentials{username: values[session.UsernameKey], password: values[session.PasswordKey], token: values[session.TokenKey]}
	switch {
	case scheme == session.AuthenticationBasic && strings.Contains(c.username, ":"):
		return nil, errors.New("the credentials: a user name with a colon can't be sent by the scheme Basic (RFC 7617, section 2)")
	case scheme == session.AuthenticationBearer && (c.token == "" || strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r > '~' })):
		return nil, errors.New("the credentials: the token must have visible characters of ASCII only (RFC 6750, section 2.1)")
	}
	return c, nil
}

// authorization is the header that is the same in each request; empty where the
// scheme has none.
func (c *Credentials) authorization(scheme string) string {
	switch scheme {
	case session.AuthenticationBasic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.username+":"+c.password))
	case session.AuthenticationBearer:
		return "Bearer " + c.token
	}
	return ""
}
