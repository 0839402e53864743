package script

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	v1 "go.k6.io/k6/v2/api/v1"
	"go.k6.io/k6/v2/api/v1/client"
	"go.k6.io/k6/v2/lib"

	"github.com/assay-dev/assay/internal/session"
)

// pollInterval is how often k6 is asked how far it is: it tells nobody by
// itself.
const pollInterval = 50 * time.Millisecond

// api is k6's REST API, on loopback. It is how k6 itself means to be driven from
// outside: https://grafana.com/docs/k6/latest/reference/k6-rest-api/.
type api struct {
	address string
	client  *client.Client
}

// newAPI finds a port for the API of a k6 that is about to be started.
func newAPI() (*api, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a port for k6's API: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("find a port for k6's API: %w", err)
	}
	c, err := client.New(address, client.WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
	if err != nil {
		return nil, fmt.Errorf("k6's API: %w", err)
	}
	return &api{address: address, client: c}, nil
}

// await asks until k6 is in one of some states. The only error is the
// context's.
func (a *api) await(ctx context.Context, is func(lib.ExecutionStatus) bool) (v1.Status, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		// Until its API is up, k6 can't be asked; when it has ended, nobody waits.
		if status, err := a.client.Status(ctx); err == nil && is(status.Status) {
			return status, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return v1.Status{}, ctx.Err()
		}
	}
}

// paused is the state of a k6 that has made its virtual users and waits.
func paused(s lib.ExecutionStatus) bool { return s == lib.ExecutionStatusPausedBeforeRun }

// over is whether the load has ended.
func over(s lib.ExecutionStatus) bool {
	return s == lib.ExecutionStatusEnded || s == lib.ExecutionStatusInterrupted || s == lib.ExecutionStatusMarkedAsFailed
}

// resume has a paused k6 begin.
func (a *api) resume(ctx context.Context) error {
	const body = `{"data":{"type":"status","id":"default","attributes":{"paused":false}}}`
	return a.client.CallAPI(ctx, http.MethodPatch, &url.URL{Path: "/v1/status"}, []byte(body), nil)
}

// stop has k6 break its load off.
func (a *api) stop(ctx context.Context) error {
	const body = `{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}`
	return a.client.CallAPI(ctx, http.MethodPatch, &url.URL{Path: "/v1/status"}, []byte(body), nil)
}

var setupURL, teardownURL = &url.URL{Path: "/v1/setup"}, &url.URL{Path: "/v1/teardown"}

// setup has k6 run setup(), and returns its data as JSON; nil for none.
func (a *api) setup(ctx context.Context) ([]byte, error) {
	var response struct {
		Data struct {
			Attributes struct {
				Data json.RawMessage `json:"data"`
			} `json:"attributes"`
		} `json:"data"`
	}
	if err := a.client.CallAPI(ctx, http.MethodPost, setupURL, nil, &response); err != nil {
		return nil, err
	}
	data := []byte(response.Data.Attributes.Data)
	if len(data) > session.MostSetupBytes {
		return nil, fmt.Errorf("setup() returned %d bytes of JSON, more than the %d that are passed on to the other clients: return less, and have the script make or read the rest", len(data), session.MostSetupBytes)
	}
	return data, nil
}

// setSetup gives k6 what setup() returned elsewhere.
func (a *api) setSetup(ctx context.Context, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	return a.client.CallAPI(ctx, http.MethodPut, setupURL, data, nil)
}

// teardown has k6 run teardown().
func (a *api) teardown(ctx context.Context) error {
	return a.client.CallAPI(ctx, http.MethodPost, teardownURL, nil, nil)
}
