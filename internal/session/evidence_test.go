package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

func evidence() *Evidence {
	return &Evidence{Software: "nginx", DocumentLength: 7, TLS: &result.Handshake{
		Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES256-GCM-SHA384", KeyAlgorithm: "RSA", KeySize: 4096,
		Subject: "CN=target", Issuer: "CN=bench-ca", Fingerprint: strings.Repeat("0f", 32), NotAfter: 1_900_000_000_000_000,
		CertificateRequested: true,
	}}
}

func TestEvidenceIsKept(t *testing.T) {
	for name, want := range map[string]*Evidence{
		"TLS":            evidence(),
		"without TLS":    {Software: "nginx", DocumentLength: 7},
		"HTTP/2":         {HTTP: result.HTTP2},
		"unknown length": {DocumentLength: -1},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := EncodeEvidence(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeEvidence(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEvidenceIsFitToBeShown has a server tell too much, in letters that a
// terminal obeys, and a pod that passes it on as it is.
func TestEvidenceIsFitToBeShown(t *testing.T) {
	said := evidence()
	said.Software = "\x1b[2J" + strings.Repeat("ü", 1000)
	said.TLS.Subject = "CN=\u202eevil\r\n"
	said.TLS.Issuer = strings.Repeat("<", 100_000)
	want := evidence()
	want.Software = "[2J" + strings.Repeat("ü", 510) + "…"
	want.TLS.Subject = "CN=evil"
	want.TLS.Issuer = strings.Repeat("<", evidenceTextBytes) + "…"
	before := *said.TLS

	data, err := EncodeEvidence(said)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEvidence(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if *said.TLS != before {
		t.Error("what the caller has was changed")
	}

	said.TLS.Issuer = "CN=bench-ca"
	want.TLS.Issuer = "CN=bench-ca"
	if data, err = json.Marshal(said); err != nil {
		t.Fatal(err)
	}
	if got, err = DecodeEvidence(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passed on as it is (-want +got):\n%s", diff)
	}
}

func TestNonsenseForEvidence(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"nothing":               {"", "EOF"},
		"not JSON":              {"evidence", "invalid character"},
		"null":                  {"null", "no evidence"},
		"another type":          {`["x"]`, "cannot unmarshal"},
		"an unknown field":      {`{"documentLength":1,"os":"x"}`, "unknown field"},
		"two of them":           {`{"documentLength":1}{}`, "after it"},
		"a negative length":     {`{"documentLength":-2}`, "-2 bytes"},
		"an unknown protocol":   {`{"tls":{"protocol":"SSLv3"}}`, "SSLv3"},
		"a version of HTTP":     {`{"http":"HTTP/3"}`, `"HTTP/3" of HTTP`},
		"a key without measure": {`{"tls":{"protocol":"TLSv1.2","keySize":99999999}}`, "99999999 bits"},
		"a negative key":        {`{"tls":{"protocol":"TLSv1.2","keySize":-1}}`, "-1 bits"},
		"too long":              {`{"software":"` + strings.Repeat("x", evidenceBytes) + `"}`, "evidence of 32"},
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := DecodeEvidence([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v, error %v, want %q", e, err, test.want)
			}
		})
	}
}

func TestWatch(t *testing.T) {
	valid := func() *Watch {
		return &Watch{Address: "10.0.0.1:443", Path: "/x", Host: "www", TLS: &TLS{Protocols: []string{"TLSv1.2"}},
			Containers: map[string]string{"0123": "nginx"}}
	}
	decoded := func(w *Watch) (*Watch, error) {
		data, err := EncodeWatch(w)
		if err != nil {
			t.Fatal(err)
		}
		return DecodeWatch(data)
	}
	got, err := decoded(valid())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(valid(), got); diff != "" {
		t.Error(diff)
	}
	for text, change := range map[string]func(*Watch){
		`address ""`:           func(w *Watch) { w.Address = "" },
		`path "x"`:             func(w *Watch) { w.Path = "x" },
		`path ""`:              func(w *Watch) { w.Path = "" },
		`TLS protocol "SSLv3"`: func(w *Watch) { w.TLS.Protocols[0] = "SSLv3" },
	} {
		w := valid()
		change(w)
		if _, err := decoded(w); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	if _, err := DecodeWatch([]byte("{")); err == nil {
		t.Error("no error for what isn't JSON")
	}
}
