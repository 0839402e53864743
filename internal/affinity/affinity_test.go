package affinity_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/internal/affinity"
)

func set(cpus ...int) (s unix.CPUSet) {
	for _, cpu := range cpus {
		s.Set(cpu)
	}
	return s
}

func TestHighest(t *testing.T) {
	for name, test := range map[string]struct {
		all, highest, others unix.CPUSet
		n                    int
	}{
		"one of two":           {set(0, 1), set(1), set(0), 1},
		"two of five":          {set(0, 2, 63, 64, 900), set(64, 900), set(0, 2, 63), 2},
		"as many as there are": {set(3, 4), set(3, 4), set(3, 4), 2},
		"more than there are":  {set(3), set(3), set(3), 4},
	} {
		if highest, others := affinity.Highest(test.all, test.n); highest != test.highest || others != test.others {
			t.Errorf("%s: %v and %v", name, highest, others)
		}
	}
}

// TestMain runs this program on some of its CPUs when it is asked to.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv("AFFINITY_TEST") {
	case "highest":
		err = affinity.ExecOnHighest(1, []string{"cat", "/proc/self/status"})
	case "leave":
		err = affinity.LeaveHighest(1, []string{"AFFINITY_TEST=print"})
	case "print":
		var status []byte
		status, err = os.ReadFile("/proc/self/status")
		_, _ = os.Stdout.Write(status)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// The program that is executed has the chosen CPUs, without a privilege.
func TestExec(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"highest": 1, "leave": max(1, all.Count()-1)}
	for how, cpus := range want {
		command := exec.Command("/proc/self/exe")
		command.Env = append(os.Environ(), "AFFINITY_TEST="+how)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", how, err, output)
		}
		_, line, _ := strings.Cut(string(output), "Cpus_allowed:")
		mask, _, _ := strings.Cut(line, "\n")
		bits := 0
		for _, digit := range strings.TrimSpace(mask) {
			if at := strings.IndexRune("0123456789abcdef", digit); at > 0 {
				bits += []int{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}[at]
			}
		}
		if bits != cpus {
			t.Errorf("%s: %d CPUs of %d, want %d: %s", how, bits, all.Count(), cpus, mask)
		}
	}
}
