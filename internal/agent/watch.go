package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/session/pod"
)

const (
	// UserAgent is what the agent calls itself when it asks the target.
	UserAgent = "assay-agent"

	// firstPause and longestPause are between two questions.
	firstPause   = 20 * time.Millisecond
	longestPause = 200 * time.Millisecond
	// answerTimeout bounds an answer.
	answerTimeout = 2 * time.Second
)

// watch asks the target for a path until it answers with success, each time on
// a connection of its own.
func watch(ctx context.Context, s Session, order pod.Watch) {
	client := &http.Client{
		Timeout:       answerTimeout,
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	silent := ""
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		software, length, err := ask(ctx, client, order)
		if err == nil {
			s.TargetAnswered(software, length)
			return
		}
		if reason := err.Error(); reason != silent && ctx.Err() == nil {
			silent = reason
			s.TargetSilent(reason)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// ask returns the Server header and the length of the body of an answer with
// success.
func ask(ctx context.Context, client *http.Client, order pod.Watch) (software string, length int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+order.Address+order.Path, nil)
	if err != nil {
		return "", 0, err
	}
	request.Header.Set("User-Agent", UserAgent)
	response, err := client.Do(request)
	if err != nil {
		return "", 0, fmt.Errorf("GET %s: %w", order.Path, plain(err))
	}
	defer func() { _ = response.Body.Close() }()
	if length, err = io.Copy(io.Discard, response.Body); err != nil {
		return "", 0, fmt.Errorf("GET %s: %w", order.Path, plain(err))
	}
	if response.StatusCode < 200 || response.StatusCode > 399 {
		return "", 0, fmt.Errorf("GET %s was answered with %s", order.Path, response.Status)
	}
	return response.Header.Get("Server"), length, nil
}

// plain leaves out what differs from one attempt to the next, such as ports.
func plain(err error) error {
	var timeout net.Error
	var asked *url.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, syscall.ECONNRESET):
		return errors.New("connection reset")
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer within %s", answerTimeout)
	case errors.As(err, &asked):
		return asked.Err
	}
	return err
}
