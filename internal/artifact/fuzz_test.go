package artifact

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// FuzzDecode decodes what a user may have put in place of an artifact.
func FuzzDecode(f *testing.F) {
	r := &result.Result{}
	r.Clients = []result.Client{{}}
	r.Clients[0].Latencies.Of(result.Total).Record(7)
	encoded, err := Encode(r, ConfigMapLimit)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		decoded, err := Decode(data)
		if err != nil {
			return
		}
		if _, err := Encode(decoded, ConfigMapLimit); err != nil {
			t.Errorf("a decoded result can't be encoded: %v", err)
		}
	})
}
