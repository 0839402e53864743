package fair

import (
	"cmp"
	"container/heap"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue hands out requests such that namespaces take turns, and none has more than limit at a time. Within a namespace
// they are in the order of their priorities, and then of their arrival.
//
// The inner queue delays requests, and holds back those of objects that are being reconciled. Whatever it hands out waits
// here for its turn. No worker and no timer polls: Done wakes the workers that wait.
type queue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	name    string
	limit   int
	overdue func()

	mu         sync.Mutex
	changed    *sync.Cond
	namespaces map[string]*namespace
	waiting    map[reconcile.Request]*entry
	stop       map[reconcile.Request]func() // of the requests that workers have
	count      int64                        // of arrivals and turns
	shutdown   bool
}

// namespace has the requests of a namespace.
type namespace struct {
	waiting entries
	busy    int
	// turn is larger the later the namespace had its last turn, or came.
	turn int64
}

// entry is a request that waits.
type entry struct {
	reconcile.Request
	priority int
	arrival  int64
	index    int // in its heap
}

// newQueue returns a queue for a controller's workers. It stops with the inner one.
func newQueue(name string, inner priorityqueue.PriorityQueue[reconcile.Request], workers int, overdue func()) *queue {
	q := &queue{
		PriorityQueue: inner, name: name, limit: max(1, workers/2), overdue: overdue,
		namespaces: map[string]*namespace{}, waiting: map[reconcile.Request]*entry{}, stop: map[reconcile.Request]func(){},
	}
	q.changed = sync.NewCond(&q.mu)
	slowTotal.WithLabelValues(name)
	waiting.WithLabelValues(name)
	go q.receive()
	return q
}

// receive takes requests from the inner queue until that shuts down.
func (q *queue) receive() {
	for {
		request, priority, shutdown := q.PriorityQueue.GetWithPriority()
		q.mu.Lock()
		if q.shutdown = shutdown; !shutdown {
			q.push(request, priority)
		}
		q.changed.Broadcast()
		q.mu.Unlock()
		if shutdown {
			return
		}
	}
}

func (q *queue) push(request reconcile.Request, priority int) {
	q.count++
	n := q.namespaces[request.Namespace]
	if n == nil {
		n = &namespace{turn: q.count}
		q.namespaces[request.Namespace] = n
	}
	e := &entry{Request: request, priority: priority, arrival: q.count}
	heap.Push(&n.waiting, e)
	q.waiting[request] = e
	waiting.WithLabelValues(q.name).Set(float64(len(q.waiting)))
}

// GetWithPriority implements priorityqueue.PriorityQueue: it returns the next request of the namespace whose last turn
// was the longest time ago.
func (q *queue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.shutdown {
		n := q.next()
		if n == nil {
			q.changed.Wait()
			continue
		}
		e := heap.Pop(&n.waiting).(*entry)
		delete(q.waiting, e.Request)
		waiting.WithLabelValues(q.name).Set(float64(len(q.waiting)))
		q.count++
		n.turn = q.count
		n.busy++
		q.stop[e.Request] = watch(q.name, e.Request, q.overdue)
		return e.Request, e.priority, false
	}
	return reconcile.Request{}, 0, true
}

// next returns the namespace whose turn it is, or nil if none may have a worker.
func (q *queue) next() (next *namespace) {
	for _, n := range q.namespaces {
		if len(n.waiting) > 0 && n.busy < q.limit && (next == nil || n.turn < next.turn) {
			next = n
		}
	}
	return next
}

// Get implements workqueue.TypedInterface.
func (q *queue) Get() (reconcile.Request, bool) {
	request, _, shutdown := q.GetWithPriority()
	return request, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *queue) Done(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if stop := q.stop[request]; stop != nil {
		stop()
		delete(q.stop, request)
		n := q.namespaces[request.Namespace]
		if n.busy--; n.busy == 0 && len(n.waiting) == 0 {
			delete(q.namespaces, request.Namespace)
		}
		q.changed.Broadcast()
	}
	q.PriorityQueue.Done(request)
}

// Add implements workqueue.TypedInterface.
func (q *queue) Add(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, request)
}

// AddWithOpts implements priorityqueue.PriorityQueue. A request that waits here already only gets the higher priority.
func (q *queue) AddWithOpts(o priorityqueue.AddOpts, requests ...reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, request := range requests {
		e := q.waiting[request]
		if e == nil || o.After > 0 || o.RateLimited {
			q.PriorityQueue.AddWithOpts(o, request)
			continue
		}
		priority := 0
		if o.Priority != nil {
			priority = *o.Priority
		}
		if priority > e.priority {
			e.priority = priority
			heap.Fix(&q.namespaces[request.Namespace].waiting, e.index)
		}
	}
}

// Len implements workqueue.TypedInterface.
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + q.PriorityQueue.Len()
}

// entries is a heap.
type entries []*entry

func (e entries) Len() int { return len(e) }

func (e entries) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[j].priority, e[i].priority), cmp.Compare(e[i].arrival, e[j].arrival)) < 0
}

func (e entries) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].index, e[j].index = i, j
}

// Push implements heap.Interface.
func (e *entries) Push(x any) {
	x.(*entry).index = len(*e)
	*e = append(*e, x.(*entry))
}

// Pop implements heap.Interface.
func (e *entries) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return x
}
