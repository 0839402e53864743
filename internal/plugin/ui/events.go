package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// maxRate is the shortest time between two events of a page.
	maxRate = 500 * time.Millisecond
	// heartbeat is the longest time between two events. It shows the browser that the program is still there, and what time
	// alone changes.
	heartbeat    = 5 * time.Second
	writeTimeout = 10 * time.Second
	// maxStream is the longest time of a connection with events. The browser then comes again with the credentials of that time.
	maxStream = 10 * time.Minute
)

// event is what a page is sent when something has changed. Each is complete: after an interruption the first one brings
// the page up to date.
type event struct {
	// Parts are the contents of elements by their ids, only of those that have changed on this connection.
	Parts map[string]string `json:"parts,omitempty"`
	// Rows replace the rows of a table by their ids, Gone are the ids of those that don't exist any more.
	Rows map[string]string `json:"rows,omitempty"`
	Gone []string          `json:"gone,omitempty"`
	// Reload makes the browser load the page again: it is another one now.
	Reload bool `json:"reload,omitempty"`
	// Again makes the browser ask for the events again: this was the last one of the connection.
	Again bool `json:"again,omitempty"`
}

// stream sends events to a browser.
type stream struct {
	out   *http.ResponseController
	w     http.ResponseWriter
	parts map[string]string // as they were sent last
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{out: http.NewResponseController(w), w: w, parts: map[string]string{}}
	_ = s.out.SetReadDeadline(time.Time{}) // of the request, which was read; if it fails, the stream ends early
	return s
}

// send sends an event. An error means that the browser has gone.
func (s *stream) send(e *event) error {
	for id, html := range e.Parts {
		if sent, has := s.parts[id]; has && sent == html {
			delete(e.Parts, id)
		}
	}
	for id, html := range e.Parts {
		s.parts[id] = html
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	// The id changes nothing here: a page needs no earlier events.
	if err := s.out.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return fmt.Errorf("limit the time to write: %w", err)
	}
	if _, err := fmt.Fprintf(s.w, "data: %s\n\n", bytes.TrimSpace(data)); err != nil {
		return err
	}
	return s.out.Flush()
}

// watch sends the events of a page: now, at each change of one of two stores, which may be the same, but not more often than
// maxRate, and every heartbeat.
func (s *App) watch(w http.ResponseWriter, r *http.Request, one, other *store, next func() *event) {
	to, end := newStream(w), time.Now().Add(maxStream)
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	for {
		changed, also := one.wait(), other.wait()
		e := next()
		e.Again = !e.Reload && !time.Now().Before(end)
		if to.send(e) != nil || e.Reload || e.Again {
			return
		}
		timer.Reset(heartbeat)
		select {
		case <-r.Context().Done():
			return
		case <-timer.C:
			continue
		case <-changed:
		case <-also:
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(maxRate):
		}
	}
}
