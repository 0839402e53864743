package harness

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Child is a process that Serve or Start started, with its children.
type Child struct{ command *exec.Cmd }

// Serve starts a server on the given CPUs, which taskset knows as a list, and waits until it accepts connections at address.
// The caller must call Stop.
func Serve(ctx context.Context, cpus, address, name string, args ...string) (*Child, error) {
	p, err := Start(ctx, cpus, name, args...)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return p, conn.Close()
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			p.Stop()
			return nil, fmt.Errorf("connect to %s: %w", name, err)
		}
	}
}

// Start starts a program on the given CPUs. The caller must call Stop.
func Start(ctx context.Context, cpus, name string, args ...string) (*Child, error) {
	p := &Child{Pinned(ctx, cpus, name, args...)}
	p.command.Stderr = os.Stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.command.Cancel = p.kill
	return p, p.command.Start()
}

// Stop kills the process and its children.
func (p *Child) Stop() {
	_ = p.kill()
	_ = p.command.Wait()
}

func (p *Child) kill() error { return syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) }

// Pinned returns a command that runs on the given CPUs.
func Pinned(ctx context.Context, cpus, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "taskset", append([]string{"-c", cpus, name}, args...)...)
}

// FreeAddresses returns n different addresses of this host that nothing listens on.
func FreeAddresses(n int) ([]string, error) {
	var all []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		all = append(all, listener.Addr().String())
	}
	return all, nil
}
