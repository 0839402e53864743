package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/test/harness"
)

// memoryLimit is the memory limit of the manager's container in the chart, in bytes.
const memoryLimit = "536870912"

// process is a manager.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	// session is the address of the session server, profiles that of the profiles.
	session, profiles string
	started           time.Time
	log               *os.File
}

// startManager starts a manager. It doesn't wait until that is ready.
func (c *cluster) startManager(s *settings) (*process, error) {
	addresses, err := harness.FreeAddresses(4)
	if err != nil {
		return nil, err
	}
	p := &process{session: addresses[0], profiles: addresses[3], ended: make(chan struct{})}
	_, port, _ := net.SplitHostPort(p.session)
	p.command = exec.Command(s.manager, "--kubeconfig="+c.managerFile, "--namespace="+systemNamespace, "--pod-name=manager",
		"--leader-elect=false", "--max-active-runs=0", "--session-address="+p.session, "--session-bind-address=:"+port, "--metrics-bind-address="+addresses[1], "--metrics-secure=false",
		"--health-probe-bind-address="+addresses[2], "--pprof-bind-address="+p.profiles, "--assay-image=assay", "--load-image=assay-load", "--k6-image=assay-k6")
	p.command.Env = append(os.Environ(), "MEMORY_LIMIT="+memoryLimit)
	if p.log, err = os.Create(filepath.Join(c.directory, "manager.log")); err != nil {
		return nil, err
	}
	p.command.Stderr = p.log
	if s.verbose {
		p.command.Stderr = os.Stderr
	}
	p.started = time.Now()
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the manager: %w", err)
	}
	go func() {
		_ = p.command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop ends the manager. It returns an error with the end of the log if it had ended by itself.
func (p *process) stop() error {
	select {
	case <-p.ended:
		text, _ := os.ReadFile(p.log.Name())
		return fmt.Errorf("the manager ended by itself: %s\n%s", p.command.ProcessState, text[max(0, len(text)-4000):])
	default:
	}
	_ = p.command.Process.Signal(syscall.SIGTERM)
	<-p.ended
	return p.log.Close()
}

// used is the usage of a process since its start.
type used struct {
	cpu            time.Duration
	resident, peak int64
	at             time.Time
}

func (p *process) used() (used, error) {
	proc, err := procfs.NewProc(p.command.Process.Pid)
	if err != nil {
		return used{}, fmt.Errorf("read the manager's usage: %w", err)
	}
	stat, statErr := proc.Stat()
	status, statusErr := proc.NewStatus()
	if err := errors.Join(statErr, statusErr); err != nil {
		return used{}, fmt.Errorf("read the manager's usage: %w", err)
	}
	return used{
		cpu: time.Duration(stat.CPUTime() * float64(time.Second)), resident: int64(status.VmRSS), peak: int64(status.VmHWM), at: time.Now(),
	}, nil
}

// cores returns the mean number of CPUs in use since an earlier time.
func (u used) cores(since used) float64 {
	return (u.cpu - since.cpu).Seconds() / u.at.Sub(since.at).Seconds()
}

// profile writes a CPU profile of the next seconds to a file, and then a heap profile next to it.
func (p *process) profile(ctx context.Context, file string, length time.Duration) error {
	for _, part := range []struct{ path, file string }{
		{fmt.Sprintf("profile?seconds=%d", int(length.Seconds())), file}, {"heap", file + ".heap"},
	} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.profiles+"/debug/pprof/"+part.path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return fmt.Errorf("read a profile: %w", err)
		}
		written, err := os.Create(part.file)
		if err != nil {
			return err
		}
		_, err = io.Copy(written, response.Body)
		if err := errors.Join(err, response.Body.Close(), written.Close()); err != nil {
			return err
		}
	}
	return nil
}
