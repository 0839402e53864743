package statistics

import "sync"

// cache remembers what was computed. It is emptied when it is full.
type cache[K comparable, V any] struct {
	most  int
	mu    sync.Mutex
	known map[K]V
}

// get returns what of computes for a key. Others aren't kept waiting meanwhile.
func (c *cache[K, V]) get(key K, of func(K) V) V {
	c.mu.Lock()
	v, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return v
	}
	v = of(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= c.most {
		c.known = map[K]V{}
	}
	c.known[key] = v
	return v
}
