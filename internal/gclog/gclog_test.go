package gclog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	pause := func(start, duration int64, kind string) *Pause { return &Pause{start, duration, kind} }
	const mebibyte = 1 << 20
	for text, want := range map[string]Line{
		// OpenJDK 17, recorded
		"[3571531ns][gc] Using Serial": {nil, -1},
		"[54402673ns][gc] GC(0) Pause Young (Allocation Failure) 17M->0M(61M) 1.009ms":                  {pause(54402673-1009000, 1009000, "Young"), 0},
		"[43073949ns][gc       ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(64M) 0.963ms":  {pause(43073949-963000, 963000, "Young (Normal)"), mebibyte},
		"[43028878ns][gc,phases] GC(0)   Pre Evacuate Collection Set: 0.1ms":                            {nil, -1},
		"[115236054ns][gc       ] GC(17) Pause Full (System.gc()) 40M->4M(20M) 2.686ms":                 {pause(115236054-2686000, 2686000, "Full"), 4 * mebibyte},
		"[104734942ns][gc,phases] GC(0) Pause Mark Start 0.007ms":                                       {pause(104734942-7000, 7000, "Mark Start"), -1},
		"[107342749ns][gc,phases] GC(0) Concurrent Mark 2.490ms":                                        {nil, -1},
		"[111810163ns][gc       ] GC(0) Garbage Collection (Allocation Stall) 64M(100%)->6M(9%)":        {nil, 6 * mebibyte},
		"[134228799ns][gc] GC(0) Pause Init Mark (unload classes) 0.043ms":                              {pause(134228799-43000, 43000, "Init Mark (unload classes)"), -1},
		"[133901799ns][gc] Trigger: Learning 1 of 5. Free (44783K) is below initial threshold (45875K)": {nil, -1},
		// the same in other forms: a pause that began with the machine, other units, another language, a generation
		"[5ns][gc] GC(0) Pause Young (Allocation Failure) 17M->900K(61M) 1,5ms": {pause(0, 1500000, "Young"), 900 << 10},
		"[9000000ns][gc] GC(3) Pause Remark 3G->2G(8G) 4.000ms":                 {pause(5000000, 4000000, "Remark"), 2 << 30},
		"[9000ns][gc,phases] GC(2) y: Pause Mark Start 0.004ms":                 {pause(5000, 4000, "Mark Start"), -1},
		// what can't be
		"": {nil, -1}, "[": {nil, -1}, "[]": {nil, -1}, "[5ns][gc] GC(": {nil, -1}, "Pause": {nil, -1}, "Pause ms": {nil, -1}, "Pause  ms": {nil, -1}, "->": {nil, -1},
		"[5ns] Pause Young -1.0ms": {nil, -1}, "[5ns] Pause Young 1e300ms": {nil, -1}, "[5ns] Pause Young NaNms": {nil, -1}, "[5ns] Pause Young 9999999999.0ms": {nil, -1},
		"[5ns] 1M->99999999999999999999M(1M)": {nil, -1}, "[5ns] 1M->9999999999G(1M)": {nil, -1}, "[5ns] 1M->5X(1M)": {nil, -1}, "[5ns] 1M->5": {nil, -1},
	} {
		if diff := cmp.Diff(want, Parse([]byte(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestRecordedLogs reads logs that OpenJDK 17 wrote with Option, in pieces. At their end, the program printed
// the collections that the virtual machine had counted: of its management beans, pauses alone.
func TestRecordedLogs(t *testing.T) {
	for name, want := range map[string]struct {
		counted int64
		sum     float64 // of the last column, in milliseconds
		heap    int64
		kinds   map[string]int64
	}{
		"serial":     {34 + 2, 20.235, 5, map[string]int64{"Young": 34, "Full": 2}},
		"parallel":   {40 + 2, 42.969, 4, map[string]int64{"Young": 40, "Full": 2}},
		"g1":         {17 + 2, 19.940, 4, map[string]int64{"Young (Normal)": 17, "Full": 2}},
		"z":          {36, 0.152, 6, map[string]int64{"Mark Start": 12, "Mark End": 12, "Relocate Start": 12}},
		"shenandoah": {65, 3.643, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			recorded, err := os.ReadFile(filepath.Join("testdata", "openjdk17-"+name+".log"))
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]int64{}
			for line := range bytes.Lines(recorded) {
				if p := Parse(bytes.TrimSpace(line)).Pause; p != nil {
					kinds[p.Kind]++
				}
			}
			if diff := cmp.Diff(want.kinds, kinds); want.kinds != nil && diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			file := filepath.Join(t.TempDir(), "gc-7.log")
			r := NewReader(filepath.Dir(file))
			if _, ok := r.Read(); ok {
				t.Error("a usage without a log")
			}
			var before, u Usage
			for at := 0; at < len(recorded); at += 100 {
				add(t, file, recorded[at:min(at+100, len(recorded))])
				u = read(t, r)
				if u.Pauses < before.Pauses || u.Paused < before.Paused || u.Longest > u.Paused-before.Paused+1 {
					t.Fatalf("%+v after %+v", u, before)
				}
				before = u
			}
			if u.Pauses != want.counted || u.Paused != int64(want.sum*1000+0.5) || name != "shenandoah" && u.HeapUsed != want.heap<<20 {
				t.Errorf("%+v, want %d pauses of %v ms, %d MiB", u, want.counted, want.sum, want.heap)
			}
		})
	}
}

func add(t testing.TB, file string, text []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, r *Reader) Usage {
	t.Helper()
	u, ok := r.Read()
	if !ok {
		t.Fatal("no log")
	}
	return u
}

func collection(milliseconds int) []byte {
	return fmt.Appendf(nil, "[900000000000ns][gc] GC(0) Pause Full (System.gc()) 40M->%dM(20M) %d.000ms\n", milliseconds, milliseconds)
}

// TestLogIsRotated renames the log when it has grown too long, as the virtual machine does, and writes
// the rest of the old one before the next reading.
func TestLogIsRotated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gc-7.log")
	add(t, file, collection(5))
	r := NewReader(filepath.Dir(file))
	if u := read(t, r); u != (Usage{1, 5000, 5000, 5 << 20}) {
		t.Errorf("%+v", u)
	}
	add(t, file, collection(7))
	if err := os.Rename(file, file+".0"); err != nil {
		t.Fatal(err)
	}
	add(t, file, collection(3))
	if u := read(t, r); u != (Usage{2, 12_000, 7000, 7 << 20}) {
		t.Errorf("the end of the old log: %+v", u)
	}
	if u := read(t, r); u != (Usage{3, 15_000, 3000, 3 << 20}) {
		t.Errorf("the new log: %+v", u)
	}
	add(t, filepath.Join(filepath.Dir(file), "gc-8.log"), collection(2))
	if u := read(t, r); u != (Usage{4, 17_000, 2000, 2 << 20}) {
		t.Errorf("of another process: %+v", u)
	}
}

// TestHostileLogs has what a server could put in place of a log.
func TestHostileLogs(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "gc")
	if err := os.MkdirAll(filepath.Join(directory, "gc-1.log"), 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(filepath.Dir(directory), "secret")
	add(t, secret, collection(1))
	if err := os.Symlink(secret, filepath.Join(directory, "gc-2.log")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(directory, "gc-3.log"), 0o644); err != nil {
		t.Fatal(err)
	}
	add(t, filepath.Join(directory, "other"), collection(1))
	r := NewReader(directory)
	if u, ok := r.Read(); ok {
		t.Errorf("%+v", u)
	}
	long := append(bytes.Repeat([]byte("x"), 3<<20), '\n')
	add(t, filepath.Join(directory, "gc-4.log"), append(long, collection(4)...))
	for i := range 3 {
		if u := read(t, r); u.Pauses != 0 {
			t.Errorf("%+v after %d MiB", u, i+1)
		}
	}
	if u := read(t, r); u != (Usage{1, 4000, 4000, 4 << 20}) {
		t.Errorf("%+v after a long line", u)
	}
	for i := range 2 * maxFiles {
		add(t, filepath.Join(directory, fmt.Sprintf("gc-%d.log", 100+i)), collection(1))
	}
	if u := read(t, r); u.Pauses != maxFiles || len(r.files) != maxFiles {
		t.Errorf("%d files, %+v", len(r.files), u)
	}
	if err := os.Truncate(filepath.Join(directory, "gc-4.log"), 0); err != nil {
		t.Fatal(err)
	}
	if u := read(t, r); u.Pauses != maxFiles {
		t.Errorf("%+v after a log was truncated", u)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[43073949ns][gc       ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(64M) 0.963ms")
	f.Add("[9000ns][gc,phases] GC(2) y: Pause Mark Start 0.004ms")
	f.Fuzz(func(t *testing.T, text string) {
		l := Parse([]byte(text))
		if l.HeapUsed < -1 || l.HeapUsed > maxHeap {
			t.Errorf("a heap of %d bytes", l.HeapUsed)
		}
		if p := l.Pause; p != nil && (p.Start < 0 || p.Duration < 0 || p.Duration > maxDuration*1_000_000 || !strings.Contains(text, p.Kind)) {
			t.Errorf("%+v", p)
		}
	})
}

// BenchmarkRead reads a log to which a collection was added.
func BenchmarkRead(b *testing.B) {
	file := filepath.Join(b.TempDir(), "gc-7.log")
	r := NewReader(filepath.Dir(file))
	b.ReportAllocs()
	for b.Loop() {
		add(b, file, collection(5))
		read(b, r)
	}
}
