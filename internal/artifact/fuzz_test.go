package artifact

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// FuzzDecode decodes JSON that a user may have put in place of an artifact's. It is packed without
// being compressed: what is random in compressed bytes seldom gets as far as the JSON.
func FuzzDecode(f *testing.F) {
	r := &result.Result{SchemaVersion: result.SchemaVersion, Series: []result.Second{{}}, Levels: []result.Level{{}}}
	r.Clients = []result.Client{{}}
	r.Clients[0].Latencies.Of(result.Total).Record(7)
	seed, err := json.Marshal(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"schemaVersion":1,"clients":[null],"merged":{"latencies":{"total":null}}}`))
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		packed.Reset()
		w.Reset(&packed)
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		decoded, err := Decode(packed.Bytes())
		if err != nil {
			return
		}
		decoded.Series = joinPairs(decoded.Series)
		for i := range decoded.Clients {
			decoded.Clients[i].Latencies.Summarize()
		}
		if _, err := json.Marshal(decoded); err != nil {
			t.Errorf("a decoded result can't be encoded: %v", err)
		}
	})
}

// FuzzUnpack unpacks what isn't an artifact at all.
func FuzzUnpack(f *testing.F) {
	encoded, err := Encode(&result.Result{}, ConfigMapLimit)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if plain, err := Unpack(data); err == nil && len(plain) > maxDecoded {
			t.Errorf("%d bytes", len(plain))
		}
	})
}
