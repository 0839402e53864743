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

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

const (
	// userAgent is what the agent calls itself when it asks the target.
	userAgent = "assay-agent"
	// The time between two questions doubles from shortestPause to longestPause.
	shortestPause = 20 * time.Millisecond
	longestPause  = 200 * time.Millisecond
	// answerTimeout bounds an answer.
	answerTimeout = 2 * time.Second
	// bodyBytes is how much of a body is read to count it. The agent has little
	// CPU time; the length of a longer body is what the server says it is.
	bodyBytes = 1 << 20
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
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		software, length, err := ask(ctx, client, order)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			s.TargetAnswered(&session.Evidence{Software: software, DocumentLength: length})
			return
		}
		if reason := err.Error(); reason != silent {
			silent = reason
			s.TargetSilent(reason)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// ask returns the Server header of an answer with success, and the length of
// its body in bytes; -1 when it is long and the server doesn't say how long.
func ask(ctx context.Context, client *http.Client, order pod.Watch) (software string, length int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+order.Address+order.Path, nil)
	if err != nil {
		return "", 0, fmt.Errorf("GET %s: %w", order.Path, err)
	}
	request.Header.Set("User-Agent", userAgent)
	response, err := client.Do(request)
	if err != nil {
		return "", 0, fmt.Errorf("GET %s: %w", order.Path, plain(err))
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 399 {
		return "", 0, fmt.Errorf("GET %s was answered with %s", order.Path, response.Status)
	}
	length, err = io.Copy(io.Discard, io.LimitReader(response.Body, bodyBytes))
	if err != nil {
		return "", 0, fmt.Errorf("GET %s: %w", order.Path, plain(err))
	}
	if length == bodyBytes {
		length = response.ContentLength
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
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer within %s", answerTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was closed before the answer was complete")
	case errors.As(err, &asked):
		return asked.Err
	}
	return err
}
