package manager

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/limit"
)

// TestPodsBehindOneAddress has the pods of a node join at once, whose network gives them one address.
// The API server doesn't answer until as many as may ask have asked.
func TestPodsBehindOneAddress(t *testing.T) {
	const pods = 250
	b := newBench(t)
	var mu sync.Mutex
	asked, most, asking := 0, 0, 0
	full := make(chan struct{})
	b.identify = func(ctx context.Context, token string) (Identity, error) {
		mu.Lock()
		asked++
		asking++
		most = max(most, asking)
		if asked == maxIdentifying {
			close(full)
		}
		mu.Unlock()
		select {
		case <-full:
		case <-ctx.Done():
		}
		mu.Lock()
		defer mu.Unlock()
		asking--
		return identify(ctx, token)
	}
	b.connections = limit.MaxConnections
	b.restart()
	var all []*endpoint
	for i := range pods {
		all = append(all, b.join(clientOf("run", i)))
	}
	b.await("run", "joined", func(o session.Observation) bool {
		for _, c := range o.Clients {
			if !c.Connected || c.Failure != "" {
				return false
			}
		}
		return len(o.Clients) == pods
	})
	for i, e := range all {
		select {
		case err := <-e.ended:
			t.Errorf("pod %d: %v", i, err)
		default:
		}
	}
	if most > maxIdentifying {
		t.Errorf("%d tokens were reviewed at once", most)
	}
}

// TestManagerWithAWrongClock sets the manager's clock some hours ahead, and then right. The pods'
// tokens seem to have expired. No run is lost.
func TestManagerWithAWrongClock(t *testing.T) {
	const pods, attempts = 3, 12
	payload := fmt.Sprintf(`{"aud":[%q],"exp":%d,"kubernetes.io":{"pod":{"uid":"u"}}}`, session.Audience, time.Now().Add(time.Hour).Unix())
	claims := "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".x"
	b := newBench(t)
	var mu sync.Mutex
	refused := 0
	b.identify = func(ctx context.Context, token string) (Identity, error) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if refused < attempts {
			now = now.Add(4 * time.Hour)
		}
		if err := session.CheckClaims(claims, now); err != nil {
			refused++
			return Identity{}, errors.Join(ErrUnauthenticated, err)
		}
		return identify(ctx, token)
	}
	b.restart()
	var all []*endpoint
	for i := range pods {
		all = append(all, b.join(clientOf("run", i)))
	}
	b.await("run", "joined", func(o session.Observation) bool {
		n := 0
		for _, c := range o.Clients {
			if c.Connected && c.Failure == "" {
				n++
			}
		}
		return n == pods
	})
	if refused != attempts {
		t.Errorf("%d tokens were refused, want %d", refused, attempts)
	}
	for i, e := range all {
		select {
		case err := <-e.ended:
			t.Errorf("pod %d: %v", i, err)
		default:
		}
	}
}
