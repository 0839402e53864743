package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/test/spy"
)

const childVariable = "ASSAY_TEST_CHILD"

func TestMain(m *testing.M) {
	if what := os.Getenv(childVariable); what != "" {
		beChild(what)
		return
	}
	os.Exit(m.Run())
}

// beChild runs as a sampled process: it does what its arguments say, prints a line and
// waits for the end of its input.
func beChild(what string) {
	kind, argument, _ := strings.Cut(what, " ")
	n, _ := strconv.Atoi(argument)
	switch kind {
	case "protect":
		if late, err := Protect(); err != nil || !late {
			panic(fmt.Sprint(late, err))
		}
	case "spy": // on process n
		if err := json.NewEncoder(os.Stdout).Encode(spy.Look(n, os.Getenv(fileVariable))); err != nil {
			panic(err)
		}
		return
	case "busy": // for n ms of CPU time
		for usedCPU(unix.RUSAGE_SELF) < time.Duration(n)*time.Millisecond {
		}
	case "compile": // for n ms of CPU time in a thread that is named like HotSpot's
		compiled := make(chan bool)
		go func() {
			runtime.LockOSThread() // and ends with its goroutine
			if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(unsafe.StringData("C2 CompilerThread0\x00"))), 0, 0, 0); err != nil {
				panic(err)
			}
			for usedCPU(unix.RUSAGE_THREAD) < time.Duration(n)*time.Millisecond {
			}
			compiled <- true
			<-compiled
		}()
		<-compiled
		defer func() { compiled <- true }()
	case "threads": // n of them
		ready := make(chan bool)
		for range n {
			go func() {
				runtime.LockOSThread()
				ready <- true
				select {}
			}()
			<-ready
		}
	case "memory": // n MiB
		block := make([]byte, n<<20)
		for i := range block {
			block[i] = byte(i)
		}
		defer runtime.KeepAlive(block)
	case "files": // n open files
		for range n {
			f, err := os.Open(os.DevNull)
			if err != nil {
				panic(err)
			}
			defer func() { _ = f.Close() }()
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(u); err != nil {
		panic(err)
	}
	_, _ = io.ReadAll(os.Stdin)
}

func usedCPU(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// child is a sampled process.
type child struct {
	*exec.Cmd
	stdin io.Closer
	done  syscall.Rusage // its usage when it printed the line
}

// start starts a child and waits for its line.
func start(t testing.TB, what string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), childVariable+"="+what)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.stdin.Close() })
	if err := json.NewDecoder(stdout).Decode(&c.done); err != nil {
		t.Fatal(err)
	}
	return c
}

// end makes the child exit and returns its resource usage.
func (c *child) end(t testing.TB) *syscall.Rusage {
	t.Helper()
	_ = c.stdin.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	return c.ProcessState.SysUsage().(*syscall.Rusage)
}

// podProc returns a directory that looks like /proc of a target's pod, with a sandbox,
// the agent, and real processes as those of the server.
func podProc(t testing.TB) string {
	t.Helper()
	directory := t.TempDir()
	const agent = "4194305" // above any real PID
	for name, text := range map[string]string{
		agent + "/cgroup":  "0::/agent\n",
		agent + "/status":  "Name:\tagent\nCpus_allowed_list:\t0,2-3\n",
		agent + "/net/dev": netDev,
		"1/cgroup":         "0::/sandbox\n",
	} {
		put(t, filepath.Join(directory, name), text)
	}
	if err := os.Symlink(agent, filepath.Join(directory, "self")); err != nil {
		t.Fatal(err)
	}
	return directory
}

// show adds a process to the pod.
func show(t testing.TB, directory string, pid int) {
	t.Helper()
	name := strconv.Itoa(pid)
	if err := os.Symlink("/proc/"+name, filepath.Join(directory, name)); err != nil {
		t.Fatal(err)
	}
}

// showIn adds a process to the pod with other control groups than its own.
func showIn(t testing.TB, directory string, pid int, cgroup string) {
	t.Helper()
	name := strconv.Itoa(pid)
	if err := os.Mkdir(filepath.Join(directory, name), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"stat", "status", "task", "fd", "root"} {
		if err := os.Symlink(filepath.Join("/proc", name, file), filepath.Join(directory, name, file)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(directory, name, "cgroup"), cgroup)
}

// showNode has this machine's metrics in place of those that a pod's node and network have.
func showNode(t testing.TB, directory string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(directory, "self/net")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stat", "schedstat", "pressure", "self/net"} {
		if err := os.Symlink(filepath.Join("/proc", name), filepath.Join(directory, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// written is a process that a test makes up.
type written struct {
	pid                    int
	cgroup                 string
	ticks, resident, peak  int // CPU time as user, memory in KiB
	threads, switchesOfOne int // of the first thread
	cpus                   string
}

// show adds the process to the pod in its current state.
func (w written) show(t testing.TB, directory string) {
	t.Helper()
	at := filepath.Join(directory, strconv.Itoa(w.pid))
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(at, "cgroup"), w.cgroup)
	// proc_pid_stat(5): 14 is utime, 20 num_threads, 22 starttime.
	put(t, filepath.Join(at, "stat"), fmt.Sprintf("%d (x) S 0 %[1]d %[1]d 0 -1 0 7 0 0 0 %d 0 0 0 20 0 %d 0 %[1]d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		w.pid, w.ticks, w.threads))
	put(t, filepath.Join(at, "status"), fmt.Sprintf("Name:\tx\nVmHWM:\t%d kB\nVmRSS:\t%d kB\nCpus_allowed_list:\t%s\n", w.peak, w.resident, w.cpus))
	put(t, filepath.Join(at, "task", strconv.Itoa(w.pid), "status"), fmt.Sprintf("Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t1\n", w.switchesOfOne))
	put(t, filepath.Join(at, "fd", "0"), "")
	put(t, filepath.Join(at, "root/sys/fs/cgroup/cpu.stat"), fmt.Sprintf("throttled_usec %d\n", w.pid))
}

func put(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const netDev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000 1 0 0 0 0 0 0 1000 1 0 0 0 0 0 0
  eth0: 300 1 0 0 0 0 0 0 5000 1 0 0 0 0 0 0
  eth1: 30 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0
`
