package script

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	v1 "go.k6.io/k6/v2/api/v1"
	"go.k6.io/k6/v2/api/v1/client"
	"go.k6.io/k6/v2/lib"
	"gopkg.in/guregu/null.v3"
)

// pollInterval is the interval at which k6's state is polled. k6 sends no notifications.
const pollInterval = 50 * time.Millisecond

// api is a client for k6's REST API on a loopback address. See
// https://grafana.com/docs/k6/latest/reference/k6-rest-api/.
type api struct {
	address string
	client  *client.Client
}

// newAPI chooses a free port for the API. k6 must be started with api.address.
func newAPI() (*api, error) {
	// Another process could take a port of 127.0.0.1 before k6 listens: each connection within the machine has one.
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)) //nolint:gosec // it isn't a secret
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		return nil, fmt.Errorf("find free port for k6's API: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("find free port for k6's API: %w", err)
	}
	c, err := client.New(address, client.WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
	if err != nil {
		return nil, fmt.Errorf("create client for k6's API: %w", err)
	}
	return &api{address: address, client: c}, nil
}

// await polls until k6's state satisfies done. The only error is ctx's.
func (a *api) await(ctx context.Context, done func(lib.ExecutionStatus) bool) (v1.Status, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		// Ignore errors: k6's API may not be up yet. If k6 exits early, k6Exited fails
		// and handleOrders cancels ctx.
		if status, err := a.client.Status(ctx); err == nil && done(status.Status) {
			return status, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return v1.Status{}, ctx.Err()
		}
	}
}

// paused reports whether k6 has created its virtual users and waits for resume.
func paused(s lib.ExecutionStatus) bool { return s == lib.ExecutionStatusPausedBeforeRun }

// ended reports whether k6's load has ended.
func ended(s lib.ExecutionStatus) bool {
	return s == lib.ExecutionStatusEnded || s == lib.ExecutionStatusInterrupted || s == lib.ExecutionStatusMarkedAsFailed
}

// resume starts the load of a paused k6.
func (a *api) resume(ctx context.Context) error {
	_, err := a.client.SetStatus(ctx, v1.Status{Paused: null.BoolFrom(false)})
	return err
}

// stop aborts k6's load.
func (a *api) stop(ctx context.Context) error {
	_, err := a.client.SetStatus(ctx, v1.Status{Stopped: true})
	return err
}

var setupURL, teardownURL = &url.URL{Path: "/v1/setup"}, &url.URL{Path: "/v1/teardown"}

// setup runs the script's setup() and returns its data as JSON, or nil if it returned none.
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
	return response.Data.Attributes.Data, nil
}

// setSetupData passes k6 the data that setup() returned on the leading client.
func (a *api) setSetupData(ctx context.Context, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	return a.client.CallAPI(ctx, http.MethodPut, setupURL, data, nil)
}

// teardown runs the script's teardown().
func (a *api) teardown(ctx context.Context) error {
	return a.client.CallAPI(ctx, http.MethodPost, teardownURL, nil, nil)
}
