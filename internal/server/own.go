package server

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// Own is what the users' own configurations do, by container.
type Own map[string]*adapter.Own

// OwnIn returns what a run's status recorded of the users' own configurations, or nil if it has none yet.
func OwnIn(t *v1alpha1.TargetStatus) Own {
	if t == nil {
		return nil
	}
	own := Own{}
	add := func(name string, s *v1alpha1.ServerStatus) {
		if c := s.Configuration; c != nil {
			own[name] = &adapter.Own{Replaced: c.Extent == v1alpha1.ConfigurationReplaced, Files: c.Files, Fields: c.Fields}
		}
	}
	add(ContainerName, &t.ServerStatus)
	for i := range t.Backends {
		add(t.Backends[i].Name, &t.Backends[i].ServerStatus)
	}
	return own
}

// Record writes what a container's own configuration does into its status, as far as that has room.
func (o Own) Record(container string, s *v1alpha1.ServerStatus) {
	own := o[container]
	if own == nil {
		return
	}
	c := &v1alpha1.ConfigurationStatus{
		Extent: v1alpha1.ConfigurationExtended, Files: own.Files[:min(len(own.Files), maxOwnFiles)], Fields: own.Fields,
	}
	if own.Replaced {
		c.Extent = v1alpha1.ConfigurationReplaced
	}
	s.Configuration = c
}

// maxOwnFiles is what the status has room for.
const maxOwnFiles = 64
