package session

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// MaxUserConnections bounds the connections of a user.
	MaxUserConnections = 32
	// MaxElements bounds the elements of a page.
	MaxElements = 64
)

// Page is a document with its elements, as a browser loads them: first the document, then the
// elements over the connections of the user.
type Page struct {
	// Document is the first request. Its weight is that of the page.
	Document PlannedRequest `json:"document"`
	// Elements are the paths and queries of the other requests, all of them GET, to the host of the
	// document and with its headers except Content-Type. A path may occur several times.
	Elements []string `json:"elements,omitempty"`
}

// Element returns the request for an element. length is the expected length of the body, or -1.
func (p *Page) Element(path string, length int64) *PlannedRequest {
	r := &PlannedRequest{Path: path, Host: p.Document.Host, Weight: 1, Length: length, Decoded: true, Follow: p.Document.Follow}
	for _, h := range p.Document.Headers {
		if !strings.EqualFold(h.Name, "Content-Type") {
			r.Headers = append(r.Headers, h)
		}
	}
	return r
}

// checkPages returns an error for pages that no client could load.
func (p *Plan) checkPages() error {
	if len(p.Pages) == 0 {
		if p.UserConnections != 0 {
			return fmt.Errorf("%d connections of each user without pages", p.UserConnections)
		}
		return nil
	}
	switch {
	case len(p.Requests) > 0 || len(p.RequestList) > 0:
		return fmt.Errorf("%d pages and requests", len(p.Pages))
	case p.UserConnections < 1 || p.UserConnections > MaxUserConnections:
		return fmt.Errorf("%d connections of each user", p.UserConnections)
	case p.Arrivals != nil || p.Streams > 0 || p.Cookies || p.Form != nil:
		return fmt.Errorf("pages at an arrival rate, over HTTP/2 or with cookies")
	}
	for i := range p.Pages {
		page := &p.Pages[i]
		if err := page.Document.check(); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
		if len(page.Elements) > MaxElements {
			return fmt.Errorf("page %d: %d elements", i, len(page.Elements))
		}
		for j, path := range page.Elements {
			if err := page.Element(path, -1).check(); err != nil {
				return fmt.Errorf("page %d: element %d: %w", i, j, err)
			}
		}
	}
	return nil
}

// DisplayName returns the name under which the request's metrics are kept: its own, or its method and path.
func (r *PlannedRequest) DisplayName() string {
	described := r.describe()
	return described.DisplayName()
}

func (r *PlannedRequest) describe() result.Request {
	return result.Request{Name: r.Name, Method: r.Method, Path: r.Path, Weight: int64(r.Weight), Length: r.Length}
}
