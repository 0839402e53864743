package driver

import "container/heap"

// put adds c to the free connections. a.mu must be held.
func (a *arrivals) put(c *connection) {
	if c.shared != nil {
		heap.Push((*streamHeap)(&a.free), c)
		return
	}
	a.free = append(a.free, c)
}

// pick removes and returns the free connection to use next. With HTTP/1.1 it is the
// one that became free last. With HTTP/2 it is the stream with the lowest number, so
// that the streams of open connections are used first. a.mu must be held.
func (a *arrivals) pick() *connection {
	last := len(a.free) - 1
	if a.free[last].shared != nil {
		return heap.Pop((*streamHeap)(&a.free)).(*connection)
	}
	c := a.free[last]
	a.free = a.free[:last]
	return c
}

// streamHeap is a heap with the lowest-numbered stream first.
type streamHeap []*connection

func (h streamHeap) Len() int           { return len(h) }
func (h streamHeap) Less(i, j int) bool { return h[i].number < h[j].number }
func (h streamHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *streamHeap) Push(c any)        { *h = append(*h, c.(*connection)) }
func (h *streamHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
