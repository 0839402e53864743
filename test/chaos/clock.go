package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// setClock sets the wall clock of one process by some seconds; its monotonic clock goes on as it was.
// Linux has no such thing: time namespaces leave the wall clock alone. Go asks the vDSO for the
// time, a library that the kernel maps into each process. setClock replaces its function
// clock_gettime, in this process alone, with one that makes the system call and adds the seconds if
// the wall clock was asked for.
func setClock(pid int, seconds int32) error {
	if runtime.GOARCH != "amd64" {
		return errors.New("a clock can be set on amd64 only")
	}
	code := []byte{
		0xb8, 0xe4, 0, 0, 0, // mov eax, 228 (clock_gettime)
		0x0f, 0x05, // syscall
		0x85, 0xc0, // test eax, eax
		0x75, 0x0b, // jnz end
		0x85, 0xff, // test edi, edi (CLOCK_REALTIME)
		0x75, 0x07, // jnz end
		0x48, 0x81, 0x06, // add qword [rsi], seconds
	}
	code = binary.LittleEndian.AppendUint32(code, uint32(seconds))
	code = append(code, 0xc3) // end: ret

	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = memory.Close() }()
	from, to, err := vdsoOf(pid)
	if err != nil {
		return err
	}
	image := make([]byte, to-from)
	if _, err := memory.ReadAt(image, int64(from)); err != nil {
		return fmt.Errorf("read the vDSO: %w", err)
	}
	offset, err := clockGettime(image)
	if err != nil {
		return err
	}
	// No thread may be in the function while it changes.
	for range 100 {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
		busy := inside(pid, from, to)
		if !busy {
			_, err = memory.WriteAt(code, int64(from+offset))
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return err
		}
		if !busy {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("process %d never left the vDSO", pid)
}

// vdsoOf returns the addresses of the vDSO in a process.
func vdsoOf(pid int) (from, to uint64, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			_, err := fmt.Sscanf(line, "%x-%x", &from, &to)
			return from, to, err
		}
	}
	return 0, 0, fmt.Errorf("process %d has no vDSO", pid)
}

// clockGettime returns the offset of the function in the image of a vDSO.
func clockGettime(image []byte) (uint64, error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, fmt.Errorf("parse the vDSO: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, fmt.Errorf("read the symbols of the vDSO: %w", err)
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			return s.Value, nil
		}
	}
	return 0, errors.New("the vDSO has no __vdso_clock_gettime")
}

// inside reports whether a thread of a stopped process is at an address of a range, or has not
// stopped yet.
func inside(pid int, from, to uint64) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/syscall", pid))
	if err != nil {
		return true
	}
	for _, file := range threads {
		text, err := os.ReadFile(file)
		fields := strings.Fields(string(text))
		if err != nil {
			continue // the thread has ended
		}
		var at uint64
		if len(fields) < 2 {
			return true // running
		}
		if _, err := fmt.Sscanf(fields[len(fields)-1], "0x%x", &at); err != nil || from <= at && at < to {
			return true
		}
	}
	return false
}
