package ui

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/assay-dev/assay/internal/door"
)

const (
	// askTimeout bounds the time that the API server has to say whose a token is.
	askTimeout = 15 * time.Second
	// maxAsking bounds the tokens about which it is asked at a time.
	maxAsking = 8
	// unknownPerSecond and unknownBurst bound the tokens of an IP address that were not known before, each second and in a burst.
	unknownPerSecond, unknownBurst = 10, 50
	// maxUnasked is the time after which the API server is asked about a token again. It judges each request by itself; this
	// is for pages that send it none.
	maxUnasked = time.Minute
	// maxTokens bounds the tokens that are known, and maxOfUser those of one user. The one that isn't used for longest makes room.
	maxTokens, maxOfUser = 1024, 16
	// userQPS and userBurst bound the requests of one user to the API server, each second and in a burst.
	userQPS, userBurst = 20, 40
)

// user identifies a user, and bounds what their requests take.
type user struct {
	name     string
	requests flowcontrol.RateLimiter // to the API server
	heavy    chan struct{}           // has an item while a manifest is parsed, or a report drawn
	tokens   int                     // that are known
}

// users knows whose the tokens of the last requests are, by their digests, so that not each request asks the API server.
type users struct {
	login   Login
	now     func() time.Time
	asking  chan struct{} // has an item for each token that is asked about
	unknown *door.Callers

	mu      sync.Mutex
	byToken map[[sha256.Size]byte]*owner
	byName  map[string]*user
}

// owner names the user of a token that the API server has accepted.
type owner struct {
	user        *user
	asked, used time.Time
}

func newUsers(login Login, now func() time.Time) *users {
	return &users{
		login: login, now: now, asking: make(chan struct{}, maxAsking), unknown: door.NewCallers(unknownPerSecond, unknownBurst),
		byToken: map[[sha256.Size]byte]*owner{}, byName: map[string]*user{},
	}
}

// of returns the user of a token that came from an address.
func (u *users) of(ctx context.Context, token, address string) (*user, error) {
	key := sha256.Sum256([]byte(token))
	before, fresh := u.look(key)
	if fresh {
		return before, nil
	}
	if before == nil && !u.unknown.Allow(address, u.now()) {
		return nil, errBusy
	}
	select {
	case u.asking <- struct{}{}:
		defer func() { <-u.asking }()
	default:
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	name, err := u.login.User(ctx, token)
	switch {
	case err == nil:
		return u.add(key, name), nil
	case apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err):
		u.mu.Lock()
		defer u.mu.Unlock()
		u.forget(key)
	case before != nil:
		return before, nil // the page says that the API server doesn't answer
	}
	return nil, err
}

// look returns the user of a token that is known, else nil, and whether the API server was asked lately.
func (u *users) look(key [sha256.Size]byte) (who *user, fresh bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	k := u.byToken[key]
	if k == nil {
		return nil, false
	}
	k.used = u.now()
	return k.user, k.used.Sub(k.asked) < maxUnasked
}

// add remembers whose a token is.
func (u *users) add(key [sha256.Size]byte, name string) *user {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	u.forget(key)
	who := u.byName[name]
	if who != nil && who.tokens >= maxOfUser {
		u.makeRoom(who)
	} else if len(u.byToken) >= maxTokens {
		u.makeRoom(nil)
	}
	if who = u.byName[name]; who == nil {
		who = &user{name: name, requests: flowcontrol.NewTokenBucketRateLimiter(userQPS, userBurst), heavy: make(chan struct{}, 1)}
		u.byName[name] = who
	}
	who.tokens++
	u.byToken[key] = &owner{who, now, now}
	return who
}

// makeRoom forgets the token that wasn't used for longest: that of a user, or of all.
func (u *users) makeRoom(of *user) {
	var oldest [sha256.Size]byte
	var used time.Time
	for key, k := range u.byToken {
		if (of == nil || k.user == of) && (used.IsZero() || k.used.Before(used)) {
			oldest, used = key, k.used
		}
	}
	u.forget(oldest)
}

func (u *users) forget(key [sha256.Size]byte) {
	k := u.byToken[key]
	if k == nil {
		return
	}
	delete(u.byToken, key)
	if k.user.tokens--; k.user.tokens == 0 {
		delete(u.byName, k.user.name)
	}
}
