package door

import (
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

const (
	// unknownRate bounds the requests per second of an IP address whose token wasn't accepted before, after unknownBurst
	// at once. maxUnknown bounds those of all addresses that are being reviewed.
	unknownRate  = 2
	unknownBurst = 16
	maxUnknown   = 32
	// maxRemembered bounds the addresses and the accepted tokens that are remembered.
	maxRemembered = 1024
)

// tokens decides which requests may have their token reviewed, since that takes calls to the API server.
type tokens struct {
	accepted  *lru.Cache // by the SHA-256 of the header with the token
	reviewing chan struct{}
	callers   *Callers
}

// LimitTokens returns handler behind authorize, which lets requests with a good token through. It bounds how often
// authorize is called for others: whoever comes with a token that was accepted before doesn't wait behind them.
func LimitTokens(authorize func(http.Handler) (http.Handler, error), handler http.Handler) (http.Handler, error) {
	t := &tokens{accepted: lru.New(maxRemembered), callers: NewCallers(unknownRate, unknownBurst), reviewing: make(chan struct{}, maxUnknown)}
	authorized, err := authorize(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.accepted.Add(tokenOf(r), nil)
		handler.ServeHTTP(w, r)
	}))
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, accepted := t.accepted.Get(tokenOf(r)); !accepted {
			if !t.callers.Allow(r.RemoteAddr, time.Now()) {
				http.Error(w, "Too many requests with unknown tokens.", http.StatusTooManyRequests)
				return
			}
			select {
			case t.reviewing <- struct{}{}:
				defer func() { <-t.reviewing }()
			default:
				http.Error(w, "Too many tokens are being reviewed.", http.StatusServiceUnavailable)
				return
			}
		}
		authorized.ServeHTTP(w, r)
	}), nil
}

func tokenOf(r *http.Request) [sha256.Size]byte {
	return sha256.Sum256([]byte(r.Header.Get("Authorization")))
}

// Callers bounds how often something is done for each IP address, of which it remembers the last 1,024.
type Callers struct {
	perSecond rate.Limit
	burst     int

	mu       sync.Mutex
	limiters *lru.Cache // *rate.Limiter by IP address
}

// NewCallers returns Callers that allow each address burst at once, and then perSecond.
func NewCallers(perSecond rate.Limit, burst int) *Callers {
	return &Callers{perSecond: perSecond, burst: burst, limiters: lru.New(maxRemembered)}
}

// Allow reports whether it may be done at a time for an address, which may have a port.
func (c *Callers) Allow(address string, now time.Time) bool {
	host := HostOf(address)
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.limiters.Get(host)
	if !ok {
		known = rate.NewLimiter(c.perSecond, c.burst)
		c.limiters.Add(host, known)
	}
	return known.(*rate.Limiter).AllowN(now, 1)
}
