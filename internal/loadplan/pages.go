package loadplan

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// DefaultUserConnections is the number of connections of a user if the spec doesn't set it.
const DefaultUserConnections = 6

// pages turns the requests of a plan into the documents of pages if the load is one of pages.
func pages(p *session.Plan, spec *v1alpha1.BenchmarkRunSpec, lengths map[string]int64) {
	load := &spec.Load
	if load.Pages == nil {
		return
	}
	p.UserConnections = int(ptr.Deref(load.Pages.ConnectionsPerUser, DefaultUserConnections))
	for i := range p.Requests {
		page := session.Page{Document: p.Requests[i]}
		for _, element := range load.Requests[i].Elements {
			path := string(element)
			page.Elements = append(page.Elements, path)
			if length, known := lengths[path]; known {
				if p.Lengths == nil {
					p.Lengths = map[string]int64{}
				}
				p.Lengths[path] = length
			}
		}
		p.Pages = append(p.Pages, page)
	}
	p.Requests = nil
}

// busy returns the number of connections or users of a closed load.
func busy(l *v1alpha1.ClosedLoad) int64 { return int64(max(l.Connections, l.Users)) }

// held returns the number of connections or users of a level, or nil if it is one of a rate.
func held(l *v1alpha1.LoadLevel) *int32 {
	if l.Users != nil {
		return l.Users
	}
	return l.Connections
}
