// Package spy tries how much a process can see of another one in the same process namespace. Tests
// use it as a server under test would that looks for the token of the agent next to it.
package spy

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt tries one way to look into a process. It returns an error unless that succeeded.
type attempt struct {
	what string
	try  func(pid int, file string) error
}

// attempts are all ways for which Linux asks for access as ptrace(2) does.
var attempts = []attempt{
	{"environ", func(pid int, _ string) error { return read(proc(pid, "environ")) }},
	{"maps", func(pid int, _ string) error { return read(proc(pid, "maps")) }},
	{"mem", func(pid int, _ string) error { return open(proc(pid, "mem")) }},
	{"exe", func(pid int, _ string) error { return link(proc(pid, "exe")) }},
	{"cwd", func(pid int, file string) error { return open(proc(pid, "cwd/../../../../../..", file)) }},
	{"root", func(pid int, file string) error { return open(proc(pid, "root", file)) }},
	{"root of a thread", func(pid int, file string) error { return open(proc(pid, "task", strconv.Itoa(pid), "root", file)) }},
	{"descriptors", openDescriptor},
	{"mapped files", func(pid int, _ string) error { return list(proc(pid, "map_files")) }},
	{"mount namespace", func(pid int, _ string) error { return open(proc(pid, "ns/mnt")) }},
	{"descriptor of a pidfd", copyDescriptor},
	{"process_vm_readv", readMemory},
	{"ptrace", attach},
}

// Look returns the ways in which this process could look into another one. file is the path of a file
// in the other one's mount namespace.
func Look(pid int, file string) []string {
	var seen []string
	for _, a := range attempts {
		if err := a.try(pid, file); err == nil {
			seen = append(seen, a.what)
		}
	}
	return seen
}

func proc(pid int, parts ...string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + strings.Join(parts, "/") // not cleaned: ".." is relative to a link
}

func read(name string) error {
	text, err := os.ReadFile(name)
	if err == nil && len(text) == 0 {
		return errors.New("empty")
	}
	return err
}

func open(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return f.Close()
}

func link(name string) error {
	_, err := os.Readlink(name)
	return err
}

// list fails for an empty directory: any process may list the files of one that has exited, of which
// there are none.
func list(name string) error {
	entries, err := os.ReadDir(name)
	if err == nil && len(entries) == 0 {
		return errors.New("none")
	}
	return err
}

func openDescriptor(pid int, _ string) error {
	descriptors, err := os.ReadDir(proc(pid, "fd"))
	if err != nil {
		return err
	}
	for _, d := range descriptors {
		if err := link(proc(pid, "fd", d.Name())); err == nil {
			return nil
		}
	}
	return errors.New("none")
}

func copyDescriptor(pid int, _ string) error {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(process) }()
	copied, err := unix.PidfdGetfd(process, 0, 0)
	if err != nil {
		return err
	}
	return unix.Close(copied)
}

// readMemory reads an address at which there is nothing: whether this is permitted shows first.
func readMemory(pid int, _ string) error {
	var buffer [8]byte
	local := []unix.Iovec{{Base: &buffer[0], Len: uint64(len(buffer))}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(8), Len: int(unsafe.Sizeof(buffer))}}, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil
	}
	return err
}

func attach(pid int, _ string) error {
	runtime.LockOSThread() // it is the thread that traces
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	if err := unix.PtraceInterrupt(pid); err != nil {
		return fmt.Errorf("stop the process: %w", err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}
