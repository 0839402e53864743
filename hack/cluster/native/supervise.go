package native

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/assay-dev/assay/hack/cluster/host"
	"github.com/assay-dev/assay/hack/cluster/process"
)

const supervisor = "supervisor"

// Supervise keeps the daemons of the first or the second node running until ctx is canceled. It starts each daemon
// when those that it needs are healthy, and restarts it when it has exited. When
// Supervise returns, the daemons keep running; the next supervisor finds them by
// their pid files. In a new mount namespace it first mounts what they need.
func (l Layout) Supervise(ctx context.Context, second, newNamespace bool) error {
	if second {
		l = l.second()
	}
	lock, err := host.LockFile(l.run("supervisor.lock"), false)
	if errors.Is(err, host.ErrLocked) {
		return nil // another supervisor is running
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	self, err := process.Find(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Write(l.pidFile(supervisor)); err != nil {
		return err
	}
	if err := l.enterSystemCgroup(); err != nil {
		return err
	}
	if newNamespace {
		if err := l.coverDirs(); err != nil {
			return err
		}
	}
	address, err := l.address()
	if err != nil {
		return err
	}

	daemons := l.daemons(address)
	retryAt := map[string]time.Time{}
	for {
		settled := true
		healthy := map[string]bool{}
		for _, d := range daemons {
			if l.running(d.name) {
				continue
			}
			settled = false
			if l.held(d.name) || time.Now().Before(retryAt[d.name]) || !l.allHealthy(ctx, daemons, d.needs, healthy) {
				continue
			}
			retryAt[d.name] = time.Now().Add(time.Second)
			log.Printf("starting %s", d.name)
			if d.forgets != "" {
				if err := os.Remove(d.forgets); err != nil && !errors.Is(err, os.ErrNotExist) {
					log.Printf("%s: %v", d.name, err)
				}
			}
			cmd := exec.Command(d.path, d.args...)
			cmd.Dir = l.state()
			if _, err := process.Start(cmd, l.log(d.name), l.pidFile(d.name)); err != nil {
				log.Printf("%s: %v", d.name, err)
			}
		}
		pause := 500 * time.Millisecond
		if !settled {
			pause = 50 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// allHealthy reports whether the named daemons are healthy. It probes each at most once per round.
func (l Layout) allHealthy(ctx context.Context, daemons []daemon, names []string, known map[string]bool) bool {
	for _, name := range names {
		ok, asked := known[name]
		if !asked {
			for _, d := range daemons {
				if d.name == name {
					ok = l.healthyNow(ctx, d) == nil
				}
			}
			known[name] = ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// startSupervisor starts this program as the supervisor unless one is running.
func (l Layout) startSupervisor() error {
	if l.running(supervisor) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := l.supervisorCommand(self)
	cmd.Dir = l.State
	if _, err := process.Start(cmd, l.log(supervisor), l.pidFile(supervisor)); err != nil {
		return fmt.Errorf("start supervisor: %w", err)
	}
	return nil
}
