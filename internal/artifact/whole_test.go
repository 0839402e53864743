package artifact_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/result"
)

// withSeconds adds a histogram to each second of a result.
func withSeconds(r *result.Result) *result.Result {
	random := rand.New(rand.NewPCG(5, 6))
	for i := range r.Series {
		r.Series[i].Latency = result.NewHistogram()
		for range 500 {
			r.Series[i].Latency.Record(int64(random.ExpFloat64() * 20_000))
		}
	}
	return r
}

// fewClients is the number of clients whose results are compared field by field.
const fewClients = 3

// TestWholeIsExact checks that a whole result has every histogram of every client and second, also with as many
// clients as there can be, and that the form for a ConfigMap has none of the seconds'.
func TestWholeIsExact(t *testing.T) {
	for name, tc := range map[string]struct{ clients, seconds int }{
		"a few clients":                  {fewClients, 60},
		"more seconds than a series has": {fewClients, 1300},
		"as many clients as can be":      {1000, 600},
	} {
		t.Run(name, func(t *testing.T) {
			want := withSeconds(run(tc.clients, tc.seconds))
			encoded, err := artifact.EncodeWhole(want)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes", len(encoded))
			got, err := artifact.DecodeWhole(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if tc.clients <= fewClients { // the comparison of a thousand takes a minute: their bytes are compared below
				if diff := cmp.Diff(want, got, sameHistograms); diff != "" {
					t.Errorf("after a round trip (-want +got):\n%s", diff)
				}
			}
			if len(got.Clients) != tc.clients || len(got.Series) != tc.seconds {
				t.Errorf("%d clients and %d seconds, want %d and %d", len(got.Clients), len(got.Series), tc.clients, tc.seconds)
			}
			again, err := artifact.EncodeWhole(got)
			if err != nil || !bytes.Equal(encoded, again) {
				t.Errorf("the same result encodes to other bytes, %v", err)
			}
			thin, err := artifact.Encode(want, artifact.ConfigMapLimit)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := artifact.Decode(thin)
			if err != nil {
				t.Fatal(err)
			}
			if kept.Series[0].Latency != nil || want.Series[0].Latency == nil {
				t.Errorf("the ConfigMap has the histogram of a second: %t, the result: %t", kept.Series[0].Latency != nil, want.Series[0].Latency != nil)
			}
		})
	}
}

func TestWholeIsBounded(t *testing.T) {
	r := run(1, 1)
	noise := make([]byte, artifact.WholeLimit)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for i := range noise {
		noise[i] = noise[i]&0x3f + '0' // 6 bits of each are random
	}
	r.Run.Name = string(noise) + string(noise)
	if _, err := artifact.EncodeWhole(r); !errors.Is(err, artifact.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}
