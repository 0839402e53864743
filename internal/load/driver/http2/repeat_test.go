package http2

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// headSections are header sections in several representations: indexed in the static and in the dynamic table, added to
// that under a known and under a new name, neither, and with a new size of the table.
var headSections = [][]byte{
	{0x88},
	append([]byte{0x88, 0x5c, 0x01}, "7"...),
	append([]byte{0x8d, 0x5c, 0x02}, "12"...),
	append([]byte{0x88, 0x40, 0x03, 'x', '-', 'a', 0x03}, "abc"...),
	append([]byte{0x88, 0x40, 0x03, 'x', '-', 'b', 0x7f, 0xf1, 0x1e}, bytes.Repeat([]byte("b"), 127+0x71+0x1e<<7)...),
	append([]byte{0x88, 0x0f, 0x0d, 0x02}, "33"...),
	append([]byte{0x48, 0x03}, "204"...),
	{0xbe},
	{0xbf, 0x88},
	{0x88, 0xbe},
	append([]byte{0x88, 0x7e, 0x01}, "9"...),
	{0x20, 0x88},
	{0x3f, 0x61, 0x88},
	{0x3f, 0xe1, 0x1f, 0x88, 0x5c, 0x01, '5'},
}

// FuzzRepeatedHTTP2Heads decodes sequences of header sections, each of them several times, and compares what comes out, and the
// dynamic table at the end, with a decoder that decodes each.
func FuzzRepeatedHTTP2Heads(f *testing.F) {
	f.Add([]byte{1, 200, 7, 3, 2, 9, 4, 1, 10, 5})
	f.Add([]byte{3, 1, 3, 255, 9, 100, 8, 100, 6, 200, 8, 1, 11, 3, 3, 9, 13, 40, 9, 2})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var repeating, plain headDecoder
		repeating.init()
		plain.init()
		for i := 0; i+1 < min(len(steps), 40); i += 2 {
			section := headSections[int(steps[i])%len(headSections)]
			for n := range int(steps[i+1]) {
				head, wrong, err := repeating.decode(section, nil)
				wantErr := plain.decodeFields(section, nil)
				if (err != nil) != (wantErr != nil) {
					t.Fatalf("step %d, %x for the %dth time: %v, want %v", i, section, n, err, wantErr)
				}
				if err != nil {
					return
				}
				if head != plain.head || wrong != plain.wrong {
					t.Fatalf("step %d, %x for the %dth time: %+v (%v), want %+v (%v)", i, section, n, head, wrong, plain.head, plain.wrong)
				}
			}
		}
		if err := repeating.catchUp(); err != nil {
			t.Fatal(err)
		}
		if got, want := dynamicTable(&repeating), dynamicTable(&plain); !slices.Equal(got, want) {
			t.Errorf("table %.100q, want %.100q", got, want)
		}
	})
}

// dynamicTable returns the fields of a decoder's dynamic table.
func dynamicTable(d *headDecoder) []string {
	var fields []string
	d.decoder.SetEmitFunc(func(f hpack.HeaderField) { fields = append(fields, fmt.Sprint(f)) })
	for i := range tableBytes / fieldOverhead {
		if _, err := d.decoder.Write(appendInteger(nil, 0x80, 7, uint32(staticFields+1+i))); err != nil {
			break
		}
	}
	return fields
}

// TestRepeatedHTTP2Heads counts how often a decoder decodes a section that a server sends a thousand times.
func TestRepeatedHTTP2Heads(t *testing.T) {
	for name, test := range map[string]struct {
		section []byte
		decoded int
	}{
		"static": {headSections[0], 1}, "added": {headSections[2], 1}, "never added": {headSections[5], 1},
		"dynamic": {headSections[9], 1}, "dynamic and added": {headSections[10], 1000}, "new size": {headSections[12], 1000},
	} {
		t.Run(name, func(t *testing.T) {
			var d headDecoder
			d.init()
			if _, _, err := d.decode(headSections[3], nil); err != nil {
				t.Fatal(err)
			}
			decoded := 0
			d.decoder.SetEmitFunc(func(f hpack.HeaderField) {
				if d.field(f); f.Name == ":status" {
					decoded++
				}
			})
			for range 1000 {
				if head, wrong, err := d.decode(test.section, nil); err != nil || wrong != nil || head.status < 200 {
					t.Fatalf("%+v, malformed: %v, %v", head, wrong, err)
				}
			}
			if decoded != test.decoded {
				t.Errorf("decoded %d times, want %d", decoded, test.decoded)
			}
			if err := d.catchUp(); err != nil || decoded > test.decoded+tableBytes/fieldOverhead+1 {
				t.Errorf("decoded %d times at the end, %v", decoded, err)
			}
		})
	}
}

func TestExamineFields(t *testing.T) {
	for _, test := range []struct {
		section []byte
		added   int
		refers  bool
		ok      bool
	}{
		{headSections[0], 0, false, true}, {headSections[1], 1, false, true}, {headSections[3], 1, false, true}, {headSections[4], 1, false, true},
		{headSections[5], 0, false, true}, {headSections[7], 0, true, true}, {headSections[10], 1, true, true}, {headSections[11], 0, false, false},
		{[]byte{0x40}, 0, false, false}, {[]byte{0x5c, 0x02, '1'}, 0, false, false}, {[]byte{0xff}, 0, false, false}, {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 0, false, false},
	} {
		if added, refers, ok := examineFields(test.section); added != test.added || refers != test.refers || ok != test.ok {
			t.Errorf("%.20x: %d added, refers %t, ok %t", test.section, added, refers, ok)
		}
	}
}
