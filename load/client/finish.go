package client

import (
	"errors"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// ErrNothingMeasured is the error that Run returns if Finish was called before
// the measurement began.
var ErrNothingMeasured = errors.New("stopped before the measurement began: there is no result")

// UseDirectories makes the client read the files for TLS and the credentials from other directories
// than a pod's. The file names are the same as in a pod. It must be called before Run.
func (c *Client) UseDirectories(tls, credentials string) {
	c.tlsDirectory, c.credentialsDirectory = tls, credentials
}

// Finish ends the measurement now. The result holds what was measured so far; requests in progress
// aren't counted. Before the measurement, Finish makes Run fail with ErrNothingMeasured.
func (c *Client) Finish() { c.finishOnce.Do(func() { close(c.finish) }) }

// interrupt ends the measurement for Finish.
func (c *Client) interrupt() error {
	switch {
	case c.measured:
		return nil
	case c.current == nil, c.current.kind != sessionpb.Stage_STAGE_MEASUREMENT, c.current.sampled == nil:
		return ErrNothingMeasured
	}
	c.interrupted = true
	c.current.Stop()
	return nil
}
