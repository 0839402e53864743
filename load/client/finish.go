package client

import (
	"errors"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// ErrNothingMeasured is the error of a client that was told to finish before
// its measurement had begun.
var ErrNothingMeasured = errors.New("it was ended before the measurement began: there is nothing to report")

// UseFolders has the files for TLS and those with credentials read from other
// folders than a pod's, under their names there. It must be called before Run.
func (c *Client) UseFolders(tls, credentials string) {
	c.tlsFolder, c.credentialsFolder = tls, credentials
}

// Finish has the measurement end now, with what was measured so far. Requests
// under way have no outcome. Before the measurement has begun it makes the
// client fail with ErrNothingMeasured.
func (c *Client) Finish() { c.finishOnce.Do(func() { close(c.finish) }) }

// cutShort ends the measurement.
func (c *Client) cutShort() error {
	switch {
	case c.measured:
		return nil
	case c.current == nil, c.current.kind != sessionpb.Stage_STAGE_MEASUREMENT, c.current.sampled == nil:
		return ErrNothingMeasured
	}
	c.cut = true
	c.current.Stop()
	return nil
}
