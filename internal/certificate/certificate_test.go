package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"
	"time"
)

func TestMake(t *testing.T) {
	now := time.Now()
	for _, kind := range []struct {
		algorithm string
		size      int
	}{{"RSA", 2048}, {"RSA", 3072}, {"RSA", 4096}, {"ECDSA", 256}, {"ECDSA", 384}} {
		for _, client := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, client), func(t *testing.T) {
				made, err := Issue(Request{Algorithm: kind.algorithm, Size: kind.size, DNSNames: []string{"a.example"}, Client: client, Lifetime: time.Hour}, now)
				if err != nil {
					t.Fatal(err)
				}
				pair, err := tls.X509KeyPair(made.Certificate, made.Key)
				if err != nil {
					t.Fatal(err)
				}
				roots := x509.NewCertPool()
				if !roots.AppendCertsFromPEM(made.CA) {
					t.Fatal("the CA isn't PEM")
				}
				usage := x509.ExtKeyUsageServerAuth
				if client {
					usage = x509.ExtKeyUsageClientAuth
				}
				verify := func(name string, at time.Time, usage x509.ExtKeyUsage) error {
					_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}})
					return err
				}
				if err := verify("a.example", now, usage); err != nil {
					t.Error(err)
				}
				if verify("b.example", now, usage) == nil || verify("a.example", now.Add(2*time.Hour), usage) == nil ||
					verify("a.example", now, x509.ExtKeyUsageEmailProtection) == nil {
					t.Error("it is good for another name, time or use")
				}
			})
		}
	}
}

func TestMakeRefusesUnknownKeys(t *testing.T) {
	for _, request := range []Request{{Algorithm: "RSA", Size: 1024}, {Algorithm: "ECDSA", Size: 521}, {Algorithm: "DSA", Size: 2048}} {
		if _, err := Issue(request, time.Now()); err == nil {
			t.Errorf("%v was made", request)
		}
	}
}

func TestMakeIsNeverTheSame(t *testing.T) {
	request := Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{"a.example"}, Lifetime: time.Hour}
	one, err := Issue(request, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	other, err := Issue(request, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if string(one.Key) == string(other.Key) || string(one.CA) == string(other.CA) {
		t.Error("two runs share a key or a CA")
	}
}
