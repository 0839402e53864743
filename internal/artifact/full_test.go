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

// withSketches adds a sketch to each second of a result.
func withSketches(r *result.Result) *result.Result {
	random := rand.New(rand.NewPCG(5, 6))
	for i := range r.Series {
		h := result.NewHistogram()
		for range 500 {
			h.Record(int64(random.ExpFloat64() * 20_000))
		}
		r.Series[i].Sketch = h.Sketch()
	}
	return r
}

// fewClients is the number of clients whose results are compared field by field.
const fewClients = 3

// TestFullIsExact checks that a full result has every histogram of every client and the sketch of every second, also with
// as many clients as there can be, and that the form for a ConfigMap has the sketches only if all else fits as well.
func TestFullIsExact(t *testing.T) {
	for name, tc := range map[string]struct{ clients, seconds int }{
		"a few clients":             {fewClients, 60},
		"as many clients as can be": {1000, 600},
	} {
		t.Run(name, func(t *testing.T) {
			want := withSketches(run(tc.clients, tc.seconds))
			encoded, err := artifact.EncodeFull(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := artifact.DecodeFull(encoded)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := artifact.Unpack(encoded)
			t.Logf("%d bytes, %d unpacked, %v", len(encoded), len(plain), err)
			if tc.clients <= fewClients { // the comparison of a thousand takes a minute: their bytes are compared below
				if diff := cmp.Diff(want, got, sameHistograms); diff != "" {
					t.Errorf("after a round trip (-want +got):\n%s", diff)
				}
			}
			if len(got.Clients) != tc.clients || len(got.Series) != tc.seconds {
				t.Errorf("%d clients and %d seconds, want %d and %d", len(got.Clients), len(got.Series), tc.clients, tc.seconds)
			}
			again, err := artifact.EncodeFull(got)
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
			if has := kept.Series[0].Sketch != nil; has != (tc.clients <= fewClients) || want.Series[0].Sketch == nil {
				t.Errorf("the ConfigMap has the sketch of a second: %t, the result: %t", has, want.Series[0].Sketch != nil)
			}
		})
	}
}

func TestFullIsBounded(t *testing.T) {
	r := run(1, 1)
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%()*+,-./:;=?@[]^_`{|}~ '" // JSON has them as they are
	noise := make([]byte, artifact.FullLimit/4*5)                                                                   // 6 bits of each are random, and then some
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for i := range noise {
		noise[i] = characters[int(noise[i])*len(characters)>>8]
	}
	r.Run.Name = string(noise)
	if _, err := artifact.EncodeFull(r); !errors.Is(err, artifact.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}
