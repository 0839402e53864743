package driver

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"strings"
	"sync"
)

// recordWriter is the server's side of a TLS 1.3 connection that chooses its own records: package crypto/tls sends neither tickets
// after the handshake nor key updates. Reads are those of the tls.Conn, on which nothing must be written.
type recordWriter struct {
	*tls.Conn
	socket   *net.TCPConn
	secret   []byte
	aead     cipher.AEAD
	iv       []byte
	sequence uint64
}

// The content types of records and the types of handshake messages (RFC 8446, sections 5.1 and 4).
const (
	recordAlert, recordHandshake, recordData = 21, 22, 23
	messageTicket, messageKeyUpdate          = 4, 24
)

// keyLog takes the server's secret from the log of keys.
type keyLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *keyLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *keyLog) secret() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "SERVER_TRAFFIC_SECRET_0" {
			secret, _ := hex.DecodeString(f[2])
			return secret
		}
	}
	return nil
}

// serveRecords makes the handshake of a connection.
func serveRecords(conn net.Conn, certificate tls.Certificate) (*recordWriter, error) {
	var keys keyLog
	w := &recordWriter{socket: conn.(*net.TCPConn), Conn: tls.Server(conn, &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13, KeyLogWriter: &keys, SessionTicketsDisabled: true,
	})}
	if err := w.Handshake(); err != nil {
		return nil, err
	}
	if w.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		return nil, errors.New("another cipher suite than the one of CPUs with AES")
	}
	return w, w.use(keys.secret())
}

// use derives the keys of a secret (RFC 8446, section 7.3).
func (w *recordWriter) use(secret []byte) error {
	key, err := expandLabel(secret, "key", 16)
	if err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	w.secret, w.sequence = secret, 0
	if w.aead, err = cipher.NewGCM(block); err != nil {
		return err
	}
	w.iv, err = expandLabel(secret, "iv", 12)
	return err
}

func expandLabel(secret []byte, label string, length int) ([]byte, error) {
	info := binary.BigEndian.AppendUint16(nil, uint16(length))
	info = append(append(info, byte(len("tls13 ")+len(label))), "tls13 "+label...)
	return hkdf.Expand(sha256.New, secret, string(append(info, 0)), length)
}

// record returns an encrypted record.
func (w *recordWriter) record(kind byte, content []byte) []byte {
	header := binary.BigEndian.AppendUint16([]byte{recordData, 3, 3}, uint16(len(content)+1+w.aead.Overhead()))
	nonce := bytes.Clone(w.iv)
	binary.BigEndian.PutUint64(nonce[4:], binary.BigEndian.Uint64(nonce[4:])^w.sequence)
	w.sequence++
	return w.aead.Seal(header, nonce, append(bytes.Clone(content), kind), header)
}

func (w *recordWriter) message(kind byte, body []byte) []byte {
	return w.record(recordHandshake, append([]byte{kind, 0, 0, byte(len(body))}, body...))
}

// ticket returns a new session ticket (section 4.6.1): lifetime, age, nonce, the ticket, extensions.
func (w *recordWriter) ticket() []byte {
	return w.message(messageTicket, []byte{0, 0, 1, 0, 0, 0, 0, 0, 1, byte(w.sequence), 0, 4, 't', 'i', 'c', 'k', 0, 0})
}

// keyUpdate returns a key update and uses the next keys (section 4.6.3). The client has to update its own if asked.
func (w *recordWriter) keyUpdate(asks bool) []byte {
	body := []byte{0}
	if asks {
		body[0] = 1
	}
	record := w.message(messageKeyUpdate, body)
	next, err := expandLabel(w.secret, "traffic upd", len(w.secret))
	if err == nil {
		err = w.use(next)
	}
	if err != nil {
		panic(err) // can't happen: all lengths are fixed
	}
	return record
}

func (w *recordWriter) data(text string) []byte { return w.record(recordData, []byte(text)) }

func (w *recordWriter) closeNotify() []byte { return w.record(recordAlert, []byte{1, 0}) }
