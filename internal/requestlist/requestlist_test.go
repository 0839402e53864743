package requestlist

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListsComeAcross(t *testing.T) {
	const text = "\ufeff# a comment\r\n\r\n/a\r\n  POST /b?c=d%20[]\t7\n#/not\nHEAD /c\n\n   # nor this\n/d 1000000"
	want := []Entry{{"GET", "/a", 1}, {"POST", "/b?c=d%20[]", 7}, {"HEAD", "/c", 1}, {"GET", "/d", 1_000_000}}
	got, err := Parse(text)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	encoded, err := Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(want)
	if err != nil || !bytes.Equal(encoded, again) {
		t.Errorf("the same list is encoded in two ways: %v", err)
	}
	got, err = Decode(encoded)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestTheLongestListComesAcross: what Parse takes, Decode does.
func TestTheLongestListComesAcross(t *testing.T) {
	for name, text := range map[string]string{
		"of requests": strings.Repeat("OPTIONS /\n", MaxRequests),
		"of bytes":    strings.Repeat("/"+strings.Repeat("a", MaxPathBytes-1)+"\n", MaxBytes/(MaxPathBytes+1)),
	} {
		entries, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := Encode(entries)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(encoded)
		if err != nil || len(got) != len(entries) || got[len(got)-1] != entries[len(entries)-1] {
			t.Errorf("%s: %d of %d requests: %v", name, len(got), len(entries), err)
		}
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "there is no request in it"},
		{"# a\n\n", "there is no request in it"},
		{"/a\nb\n", `line 2: "b" is neither a path, which begins with a slash, nor one of the methods GET,`},
		{"\n\nhttp://www.example.org/a\n", `line 3: "http://www.example.org/a" has a scheme and a host: give the path alone`},
		{"get /a", `line 1: "get" is neither`},
		{"TRACE /a", "nor one of the methods"},
		{"POST", "line 1: there is no path after POST"},
		{"POST a", "the path \"a\" has 'a' at position 1: it must begin with a slash"},
		{"/a\n/ß", "line 2: the path \"/ß\" has 'Ã' at position 2"},
		{"/a#b", "has '#' at position 3"},
		{"/a%2", "has '%' at position 3"},
		{"/a\"b", `position 3`},
		{"/a b", `"b" after the path is no weight: give a number from 1 to 1000000, and a space in a path as %20`},
		{"/a 0", "is no weight"},
		{"/a 1000001", "is no weight"},
		{"/a 1 # often", `there is "#" after the weight`},
		{"/" + strings.Repeat("a", MaxPathBytes), "the path has 2049 characters: give at most 2048"},
		{strings.Repeat("a", 100), `"` + strings.Repeat("a", 80) + `"… is neither`},
		{strings.Repeat("/\n", MaxRequests+1), fmt.Sprintf("line %d: there are more than", MaxRequests+1)},
		{strings.Repeat("#", MaxBytes+1), "it has 1048577 bytes"},
	} {
		if _, err := Parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, want %q", test.text, err, test.want)
		}
	}
}

func TestNonsenseIsNotDecoded(t *testing.T) {
	bomb, err := Encode([]Entry{{"GET", "/" + strings.Repeat("a", encodedBytes), 1}})
	if err != nil {
		t.Fatal(err)
	}
	bad, err := Encode([]Entry{{"GET", "/a b", 1}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	good, err := Encode([]Entry{{"GET", "/a", 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, encoded := range map[string][]byte{"nothing": nil, "text": []byte("/a\n"), "too much": bomb, "no path": bad, "no request": none, "half": good[:len(good)-4]} {
		if entries, err := Decode(encoded); err == nil {
			t.Errorf("%s: %d requests", name, len(entries))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/a\nPOST /b 3\n# c")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := Parse(text)
		if err != nil {
			return
		}
		encoded, err := Encode(entries)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(encoded)
		if diff := cmp.Diff(entries, got); diff != "" || err != nil {
			t.Errorf("%v (-parsed +decoded):\n%s", err, diff)
		}
	})
}
