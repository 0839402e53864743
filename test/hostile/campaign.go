package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/test/harness"
)

// What holds while tenants attack.
const (
	// maxMemoryPercent bounds the manager's resident memory, of its limit.
	maxMemoryPercent = 80
	maxAdmission     = 5 * time.Second
	maxRound         = 10 * time.Second
	// settling is the time after the attackers' objects are gone at which the memory is read again.
	settling = 10 * time.Second

	memoryInterval = 20 * time.Millisecond
	// atOnce is the number of attacks that are made at the same time after each was made alone.
	atOnce = 4
)

// campaign makes attacks as tenants of a cluster while another namespace's runs go on.
type campaign struct {
	*harness.Cluster
	neighbor *neighbor
	length   time.Duration // of each wave, at least
	sweep    sync.WaitGroup
}

// wave holds the outcome of attacks that were made at the same time.
type wave struct {
	attacks, made []string
	// limit is the memory limit of the manager, the others are its resident memory: before the attack, at most, and
	// some time after it. All are in bytes.
	limit, before, peak, after int64
	restarts                   int32
	// admitted and begun are how long the neighbor's runs and rounds waited.
	admitted, begun []time.Duration
	problems        []string
}

// attackAsTenants makes each of the attacks alone, and then four at a time, and all of that again until a time has passed. Each
// is made once at least.
func attackAsTenants(ctx context.Context, chosen []tenantAttack, duration, length time.Duration) error {
	cluster, err := harness.Connect(harness.RequestTimeout)
	if err != nil {
		return err
	}
	return cluster.InNamespace(ctx, "assay-neighbor-", func(namespace string) error {
		c := &campaign{Cluster: cluster, neighbor: &neighbor{Cluster: cluster, namespace: namespace}, length: length}
		defer c.sweep.Wait()
		began := time.Now()
		var waves []*wave
		for i, order := 0, waveOrder(chosen); i < len(order) || time.Since(began) < duration; i++ {
			w, err := c.wave(ctx, order[i%len(order)])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(namesOf(order[i%len(order)]), ", "), err)
			}
			fmt.Println("  " + strings.Join(w.row(), " | "))
			for _, problem := range w.problems {
				fmt.Println("    " + problem)
			}
			waves = append(waves, w)
		}
		return conclude(waves, time.Since(began))
	})
}

// conclude prints what came of all waves.
func conclude(waves []*wave, took time.Duration) error {
	var rows [][]string
	missed := 0
	for _, w := range waves {
		rows = append(rows, w.row())
		missed += min(len(w.missed()), 1)
	}
	fmt.Printf("\n%s\n%d waves in %s. Bounds: memory %d%% of the limit, no restart, admitted within %s, round begun within %s, counts exact.\n",
		harness.Table(head, rows), len(waves), took.Round(time.Second), maxMemoryPercent, maxAdmission, maxRound)
	if missed > 0 {
		return fmt.Errorf("%d of %d waves: %w", missed, len(waves), harness.ErrMissed)
	}
	return nil
}

// waveOrder returns what is attacked with in each wave: each alone, and then as many at a time as are made at once, so that each is
// made beside each of its neighbors in the list.
func waveOrder(chosen []tenantAttack) [][]tenantAttack {
	var order [][]tenantAttack
	for i := range chosen {
		order = append(order, chosen[i:i+1])
	}
	for i := range chosen {
		if len(chosen) <= atOnce && (i > 0 || len(chosen) == 1) {
			break // they are all at once already
		}
		order = append(order, slices.Concat(chosen[i:], chosen[:i])[:min(atOnce, len(chosen))])
	}
	return order
}

func namesOf(attacks []tenantAttack) []string {
	names := make([]string, len(attacks))
	for i := range attacks {
		names[i] = attacks[i].name
	}
	return names
}

// wave makes attacks at the same time, each as a tenant of its own.
func (c *campaign) wave(ctx context.Context, attacks []tenantAttack) (*wave, error) {
	w := &wave{attacks: namesOf(attacks)}
	before, err := c.Manager(ctx)
	if err != nil {
		return nil, err
	}
	if w.limit = memoryLimit(before); w.limit == 0 {
		return nil, errors.New("the manager has no memory limit")
	}
	pid, err := harness.Process(before, harness.ManagerContainer)
	if err != nil {
		return nil, err
	}
	w.before = resident(pid)
	var tenants []*tenant
	for range attacks {
		t, err := newTenant(ctx, c.Cluster)
		if t != nil {
			tenants = append(tenants, t)
		}
		if err != nil {
			return nil, err
		}
	}
	defer c.leave(ctx, tenants)
	c.fight(ctx, w, attacks, tenants, pid)
	for _, t := range tenants {
		w.problem(t.clear(ctx))
	}
	harness.Sleep(ctx, settling)
	after, err := c.Manager(ctx)
	if err != nil {
		return nil, err
	}
	w.restarts = restartsOf(after)
	if after.UID == before.UID {
		w.restarts -= restartsOf(before)
	} else {
		w.problems = append(w.problems, "the manager's pod was replaced")
	}
	pid, err = harness.Process(after, harness.ManagerContainer)
	w.problem(err)
	w.after = resident(pid)
	return w, nil
}

// fight makes the attacks until the wave is long enough and the neighbor has made a run and a round.
func (c *campaign) fight(ctx context.Context, w *wave, attacks []tenantAttack, tenants []*tenant, pid int) {
	during, end := context.WithCancel(ctx)
	defer end()
	var attacking, watching sync.WaitGroup
	failed := make([]error, len(attacks))
	for i := range attacks {
		attacking.Go(func() { failed[i] = attacks[i].attack(during, tenants[i]) })
	}
	watching.Go(func() { w.peak = c.peak(during, pid) })
	w.besides(ctx, c.neighbor, time.Now().Add(c.length))
	end()
	attacking.Wait()
	watching.Wait()
	for i, t := range tenants {
		w.made = append(w.made, t.outcome())
		if err := cmp.Or(failed[i], t.succeeded()); err != nil {
			w.problem(fmt.Errorf("%s: %w", attacks[i].name, err))
		}
	}
}

// problem notes an error, if it is one.
func (w *wave) problem(err error) {
	if err != nil {
		w.problems = append(w.problems, err.Error())
	}
}

// besides makes the neighbor's runs and rounds until a time, and one of each at least.
func (w *wave) besides(ctx context.Context, n *neighbor, until time.Time) {
	var both sync.WaitGroup
	var mu sync.Mutex
	again := func(wait func(context.Context) (time.Duration, error), waits *[]time.Duration) {
		for done := false; ctx.Err() == nil && (!done || time.Now().Before(until)); done = true {
			waited, problem := wait(ctx)
			mu.Lock()
			*waits = append(*waits, waited)
			w.problem(problem)
			mu.Unlock()
			harness.Sleep(ctx, neighborPause)
		}
	}
	both.Go(func() { again(n.run, &w.admitted) })
	both.Go(func() { again(n.round, &w.begun) })
	both.Wait()
}

// peak returns the manager's largest resident memory until ctx is done. If its process ends, the next one counts as well.
func (c *campaign) peak(ctx context.Context, pid int) (peak int64) {
	for ctx.Err() == nil {
		now := resident(pid)
		if now == 0 {
			if next, err := c.ManagerProcess(ctx); err == nil {
				pid = next
			}
		}
		peak = max(peak, now)
		harness.Sleep(ctx, memoryInterval)
	}
	return peak
}

// resident returns the resident memory of a process in bytes, or 0 if it is unknown.
func resident(pid int) int64 {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	status, err := process.NewStatus()
	if err != nil {
		return 0
	}
	return int64(status.VmRSS)
}

// leave deletes the tenants' namespaces while the next wave goes on.
func (c *campaign) leave(ctx context.Context, tenants []*tenant) {
	for _, t := range tenants {
		c.sweep.Go(func() {
			if err := c.DeleteNamespace(ctx, t.namespace); err != nil {
				fmt.Println("  " + err.Error())
			}
		})
	}
}

func memoryLimit(manager *corev1.Pod) int64 {
	for i := range manager.Spec.Containers {
		if manager.Spec.Containers[i].Name == harness.ManagerContainer {
			return manager.Spec.Containers[i].Resources.Limits.Memory().Value()
		}
	}
	return 0
}

func restartsOf(pod *corev1.Pod) (n int32) {
	for _, status := range pod.Status.ContainerStatuses {
		n += status.RestartCount
	}
	return n
}

// head has the columns of row.
var head = []string{"attacks", "made and refused", "memory at most", "restarts", "admitted after", "round begun after", "memory before, 10 s after", ""}

// row describes a wave.
func (w *wave) row() []string {
	word := "ok"
	if missed := w.missed(); len(missed) > 0 {
		word = "MISSED: " + strings.Join(missed, "; ")
	}
	return []string{
		strings.Join(w.attacks, " + "), strings.Join(w.made, " + "), percent(w.peak, w.limit), fmt.Sprint(w.restarts), longest(w.admitted), longest(w.begun),
		percent(w.before, w.limit) + ", " + percent(w.after, w.limit), word,
	}
}

// missed returns what did not hold.
func (w *wave) missed() []string {
	var missed []string
	if most := max(w.peak, w.after); most*100 > maxMemoryPercent*w.limit {
		missed = append(missed, "memory "+percent(most, w.limit))
	}
	if w.restarts != 0 {
		missed = append(missed, fmt.Sprintf("%d restarts", w.restarts))
	}
	for _, bound := range []struct {
		about string
		waits []time.Duration
		most  time.Duration
	}{{"admitted", w.admitted, maxAdmission}, {"round begun", w.begun, maxRound}} {
		if len(bound.waits) == 0 || slices.Max(bound.waits) > bound.most {
			missed = append(missed, bound.about+" after "+longest(bound.waits))
		}
	}
	if n := len(w.problems); n > 0 {
		missed = append(missed, fmt.Sprintf("%d problems", n))
	}
	return missed
}

func percent(part, of int64) string { return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(of)) }

func longest(waits []time.Duration) string {
	if len(waits) == 0 {
		return "never"
	}
	return fmt.Sprintf("%.1fs of %d", slices.Max(waits).Seconds(), len(waits))
}
