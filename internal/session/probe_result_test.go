package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

func probeResult() *ProbeResult {
	return &ProbeResult{Software: "nginx", DocumentLength: 7, TLS: &result.Handshake{
		Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES256-GCM-SHA384", KeyAlgorithm: "RSA", KeySize: 4096,
		Subject: "CN=target", Issuer: "CN=bench-ca", Fingerprint: strings.Repeat("0f", 32), NotAfter: 1_900_000_000_000_000,
		CertificateRequested: true,
	}}
}

// checkDecoded checks what is decoded of an encoded result.
func checkDecoded(t *testing.T, want, said *ProbeResult) {
	t.Helper()
	data, err := said.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeProbeResult(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProbeResultIsKept(t *testing.T) {
	for name, want := range map[string]*ProbeResult{
		"TLS":            probeResult(),
		"without TLS":    {Software: "nginx", DocumentLength: 7},
		"HTTP/2":         {HTTP: result.HTTP2},
		"unknown length": {DocumentLength: -1},
	} {
		t.Run(name, func(t *testing.T) {
			checkDecoded(t, want, want)
		})
	}
}

// TestProbeResultIsPrintable sends long texts with control characters, as a server
// may, and then a message of a pod that doesn't clean them.
func TestProbeResultIsPrintable(t *testing.T) {
	said := probeResult()
	said.Software = "\x1b[2J" + strings.Repeat("ü", 1000)
	said.TLS.Subject = "CN=\u202eevil\r\n"
	said.TLS.Issuer = strings.Repeat("<", 100_000)
	want := probeResult()
	want.Software = "[2J" + strings.Repeat("ü", 510) + "…"
	want.TLS.Subject = "CN=evil"
	want.TLS.Issuer = strings.Repeat("<", maxProbeTextBytes) + "…"
	before := *said.TLS

	checkDecoded(t, want, said)
	if *said.TLS != before {
		t.Error("what the caller has was changed")
	}

	said.TLS.Issuer = "CN=bench-ca"
	want.TLS.Issuer = "CN=bench-ca"
	got, err := DecodeProbeResult(encoded(t, said))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passed on as it is (-want +got):\n%s", diff)
	}
}

func TestMalformedProbeResults(t *testing.T) {
	tls := func(h result.Handshake) *ProbeResult { return &ProbeResult{TLS: &h} }
	for name, test := range map[string]struct {
		result *ProbeResult
		want   string
	}{
		"a negative length":     {&ProbeResult{DocumentLength: -2}, "-2 bytes"},
		"an unknown protocol":   {tls(result.Handshake{Protocol: "SSLv3"}), "SSLv3"},
		"a version of HTTP":     {&ProbeResult{HTTP: "HTTP/3"}, `HTTP version "HTTP/3"`},
		"a key without measure": {tls(result.Handshake{Protocol: "TLSv1.2", KeySize: 99999999}), "99999999 bits"},
		"a negative key":        {tls(result.Handshake{Protocol: "TLSv1.2", KeySize: -1}), "-1 bits"},
		"too long":              {&ProbeResult{Software: strings.Repeat("x", maxProbeResultBytes)}, "probe result of 32"},
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := DecodeProbeResult(encoded(t, test.result)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v, error %v, want %q", e, err, test.want)
			}
		})
	}
	if _, err := DecodeProbeResult(nil); err == nil || !strings.Contains(err.Error(), "no probe result") {
		t.Errorf("of nothing: error %v", err)
	}
}

func TestWatch(t *testing.T) {
	valid := func() *Watch {
		return &Watch{Address: "10.0.0.1:443", Probes: []Probe{{Request: Get("/x")}}, Host: "www", TLS: &TLS{Protocols: []string{"TLSv1.2"}},
			Containers: map[string]string{"0123": "nginx"}}
	}
	got, err := DecodeWatch(encoded(t, valid()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(valid(), got); diff != "" {
		t.Error(diff)
	}
	for text, change := range map[string]func(*Watch){
		`address ""`:           func(w *Watch) { w.Address = "" },
		`path "x"`:             func(w *Watch) { w.Probes[0].Request.Path = "x" },
		`0 probes`:             func(w *Watch) { w.Probes = nil },
		`port 65536`:           func(w *Watch) { w.Probes[0].Port = 65536 },
		`scheme "Form"`:        func(w *Watch) { w.Probes[0].Authentication = AuthenticationForm },
		`TLS protocol "SSLv3"`: func(w *Watch) { w.TLS.Protocols[0] = "SSLv3" },
	} {
		w := valid()
		change(w)
		if _, err := DecodeWatch(encoded(t, w)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	if _, err := DecodeWatch(nil); err == nil {
		t.Error("no error without a watch")
	}
}
