package fair

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// request returns the request for "namespace/name".
func request(text string) reconcile.Request {
	namespace, name, _ := strings.Cut(text, "/")
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// bench is a queue of four workers in a synctest bubble. Each taken request goes to one of them, which waits for Done.
type bench struct {
	*queue
	t *testing.T

	mu    sync.Mutex
	taken []string
}

func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		options := Options(4, func() { t.Error("overdue was called") })
		q := options.NewQueue(t.Name(), options.RateLimiter).(*queue)
		defer q.ShutDown()
		test(&bench{queue: q, t: t})
	})
}

func (b *bench) add(priority int, requests ...string) {
	for _, r := range requests {
		b.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, request(r))
	}
	synctest.Wait()
}

// work starts a number of workers that take one request each.
func (b *bench) work(workers int) {
	for range workers {
		go func() {
			if r, shutdown := b.Get(); !shutdown {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.taken = append(b.taken, r.String())
			}
		}()
		synctest.Wait()
	}
}

func (b *bench) done(requests ...string) {
	for _, r := range requests {
		b.Done(request(r))
	}
	synctest.Wait()
}

// want checks which requests workers took since the last call, in order.
func (b *bench) want(want ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(want, b.taken); diff != "" {
		b.t.Errorf("taken (-want +got):\n%s", diff)
	}
	b.taken = nil
}

// TestOneNamespaceHasHalf checks that a namespace with more work than there are workers leaves half of them to others, and
// that the end of one of its reconciliations alone wakes a worker for it.
func TestOneNamespaceHasHalf(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.add(0, "a/1", "a/2", "a/3", "a/4")
		b.work(4)
		b.want("a/1", "a/2")
		b.add(0, "b/1")
		b.want("b/1")
		b.done("a/1")
		b.want("a/3")
		b.done("b/1")
		b.want([]string(nil)...)
		b.done("a/2", "a/3")
		b.work(1)
		b.want("a/4")
		if n := b.Len(); n != 0 {
			t.Errorf("%d requests are left", n)
		}
	})
}

// TestNamespacesTakeTurns checks that who has much work, and who comes and goes, delays others by one turn each.
func TestNamespacesTakeTurns(t *testing.T) {
	inBubble(t, func(b *bench) {
		for i := range 100 {
			b.add(0, fmt.Sprintf("a/%d", i), fmt.Sprintf("b/%d", i))
		}
		b.add(0, "c/1", "c/2")
		b.work(1)
		b.want("a/0")
		b.done("a/0")
		b.add(0, "d/1")
		b.work(3)
		b.want("b/0", "c/1", "a/1")
		b.done("b/0", "c/1", "a/1")
		b.work(2)
		b.want("d/1", "b/1")
		b.done("d/1", "b/1")
		b.add(0, "d/2") // it has come again: it isn't before those that wait
		b.work(4)
		b.want("c/2", "a/2", "b/2", "d/2")
	})
}

// TestPriorityAndRepetition checks the order in a namespace, that a request that is added again while it waits is taken once,
// and that one that is added while a worker has it is taken again after that.
func TestPriorityAndRepetition(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.add(-100, "a/old", "a/active", "a/older")
		b.add(0, "a/new", "a/active", "a/active")
		b.add(-100, "a/new")
		for _, want := range []string{"a/active", "a/new", "a/old"} {
			b.work(1)
			b.want(want)
			if want == "a/old" {
				b.add(0, want)
			}
			b.done(want)
		}
		b.work(2)
		b.want("a/old", "a/older")
		b.done("a/older")
		b.AddAfter(request("a/old"), time.Minute-time.Second)
		b.AddRateLimited(request("a/later"))
		b.done("a/old")
		b.work(1)
		b.want([]string(nil)...)
		time.Sleep(minDelay)
		synctest.Wait()
		b.want("a/later")
		b.done("a/later")
		b.work(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.want("a/old")
		b.done("a/old")
	})
}

// minDelay is that of retry.Limiter.
const minDelay = 10 * time.Millisecond

// TestALongReconciliationEndsTheProcess checks when one is counted, and when overdue is called.
func TestALongReconciliationEndsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		options := Options(2, func() { ended++ })
		before := testutil.ToFloat64(slowTotal.WithLabelValues(t.Name()))
		q := options.NewQueue(t.Name(), options.RateLimiter)
		defer q.ShutDown()
		for _, step := range []struct {
			took  time.Duration
			slow  float64
			ended int
		}{{slow - time.Second, 0, 0}, {slow + time.Second, 1, 0}, {longest - time.Second, 2, 0}, {longest + time.Second, 3, 1}} {
			q.Add(request("a/1"))
			r, _ := q.Get()
			time.Sleep(step.took)
			q.Done(r)
			if got := testutil.ToFloat64(slowTotal.WithLabelValues(t.Name())) - before; got != step.slow || ended != step.ended {
				t.Errorf("after %s: %v were slow, overdue was called %d times", step.took, got, ended)
			}
		}
		if options.ReconciliationTimeout <= slow || options.ReconciliationTimeout >= longest {
			t.Errorf("requests end after %s", options.ReconciliationTimeout)
		}
	})
}

// TestController has a real controller reconcile requests of several namespaces, each of which fails once, and checks that each
// succeeds, that no namespace has more than half of the workers, and that all of them work.
func TestController(t *testing.T) {
	const workers, each = 8, 50
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		busy, tries := map[string]int{}, map[reconcile.Request]int{}
		mostBusy, mostAll := 0, 0
		options := Options(workers, func() { t.Error("overdue was called") })
		options.SkipNameValidation = new(true) // the test may run twice
		options.Reconciler = reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			mu.Lock()
			busy[r.Namespace]++
			all := 0
			for _, n := range busy {
				all += n
			}
			mostBusy, mostAll = max(mostBusy, busy[r.Namespace]), max(mostAll, all)
			tries[r]++
			tried := tries[r]
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			busy[r.Namespace]--
			if tried == 1 {
				return reconcile.Result{}, fmt.Errorf("try again")
			}
			return reconcile.Result{}, nil
		})
		c, err := controller.NewTypedUnmanaged("fair", options)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			for _, namespace := range []string{"a", "b", "c"} {
				for i := range each {
					q.Add(request(fmt.Sprintf("%s/%d", namespace, i)))
				}
			}
			return nil
		})); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- c.Start(ctx) }()
		time.Sleep(time.Hour)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		var counts []int
		for _, n := range tries {
			counts = append(counts, n)
		}
		slices.Sort(counts)
		if len(counts) != 3*each || counts[0] != 2 || counts[len(counts)-1] != 2 {
			t.Errorf("%d requests were tried %v times", len(counts), counts)
		}
		if mostBusy != workers/2 || mostAll != workers {
			t.Errorf("%d workers for one namespace, %d for all", mostBusy, mostAll)
		}
	})
}
