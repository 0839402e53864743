package driver

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// capture keeps what a server writes.
type capture struct {
	net.Conn
	written []byte
}

func (c *capture) Write(p []byte) (int, error) {
	c.written = append(c.written, p...)
	return c.Conn.Write(p)
}

// expand12 is the function that derives keys in TLS 1.2 (RFC 5246, section 5).
func expand12(secret []byte, label string, seed []byte, length int) []byte {
	sum := func(parts ...[]byte) []byte {
		h := hmac.New(sha256.New, secret)
		_, _ = h.Write(bytes.Join(parts, nil))
		return h.Sum(nil)
	}
	seed = append([]byte(label), seed...)
	var out []byte
	for a := sum(seed); len(out) < length; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:length]
}

// helloRequest returns the record in which a server asks for another handshake (RFC 5246, sections 6.2.3.3 and 7.4.1.1). It is the first record after
// the handshake, whose keys were logged. Package crypto/tls can't write one.
func helloRequest(t *testing.T, keys string, server *capture) []byte {
	t.Helper()
	logged := strings.Fields(keys) // CLIENT_RANDOM, that, and the master secret
	if len(logged) != 3 || len(server.written) < 43 {
		t.Errorf("keys %q, %d bytes written", keys, len(server.written))
		return nil
	}
	random, _ := hex.DecodeString(logged[1])
	secret, _ := hex.DecodeString(logged[2])
	block := expand12(secret, "key expansion", append(bytes.Clone(server.written[11:43]), random...), 2*16+2*4)
	key, salt := block[16:32], block[36:40]
	encrypts, err := aes.NewCipher(key)
	if err != nil {
		t.Error(err)
		return nil
	}
	aead, err := cipher.NewGCM(encrypts)
	if err != nil {
		t.Error(err)
		return nil
	}
	message := []byte{0, 0, 0, 0}
	number := binary.BigEndian.AppendUint64(nil, 1) // Finished was 0
	additional := append(bytes.Clone(number), recordHandshake, 3, 3, 0, byte(len(message)))
	sealed := aead.Seal(bytes.Clone(number), append(bytes.Clone(salt), number...), message, additional)
	return append([]byte{recordHandshake, 3, 3, 0, byte(len(sealed))}, sealed...)
}

// TestRenegotiation checks that a request fails with a cause that says why if the server asks for another handshake instead of
// answering it.
func TestRenegotiation(t *testing.T) { inBothModes(t, testRenegotiation) }

func testRenegotiation(t *testing.T) {
	own := tlstest.SelfSigned(t)
	server := misbehave(t, func(conn net.Conn) {
		var keys keyLog
		captured := &capture{Conn: conn}
		secure := tls.Server(captured, &tls.Config{
			Certificates: []tls.Certificate{own.Certificate}, MaxVersion: tls.VersionTLS12, KeyLogWriter: &keys, SessionTicketsDisabled: true,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		})
		var request [4096]byte
		if _, err := secure.Read(request[:]); err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write(helloRequest(t, keys.text.String(), captured))
		_, _ = secure.Read(request[:]) // until the client gives up
	})
	got := driveTLS(t, planTLS(1, 2, session.TLS{}), server.address, tlstest.Files{Server: own.PEM()})
	for _, o := range got.outcomes {
		if o.Error != result.ErrorReceive || o.Cause != "tls: no renegotiation" {
			t.Errorf("outcome %+v", o)
		}
	}
	if got.elapsed > 10*time.Second { // of the timeout's 20
		t.Errorf("the stage took %s", got.elapsed)
	}
	if len(got.outcomes) != 2 || got.Connections != 2 {
		t.Errorf("counts %+v", got.Counts)
	}
}
