package ui

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// slowTimeout is the time after which a page says that it still waits.
const slowTimeout = 5 * time.Second

// notice is a state of the connection to the API server, above a page.
type notice struct {
	// Text is empty if there is nothing to say. Title is that of a page without anything else to show.
	Title, Text string
}

// notice returns what the user should know of a store's connection.
func (s *store) notice(now time.Time) notice {
	contact := s.contact()
	err, since, synced := contact.err, contact.since, contact.synced
	switch {
	case errors.Is(err, errManyBytes):
		return notice{"Too much", sentence(errManyBytes)}
	case apierrors.IsForbidden(err):
		return notice{"Not permitted", fmt.Sprintf("You may not list %s in %s. A role with the verbs get, list and watch on %s.assay.dev would allow it: %s",
			s.kind.Plural, s.where(), s.kind.Plural, plain(err))}
	case apierrors.IsUnauthorized(err):
		return notice{"Not logged in", fmt.Sprintf("The API server doesn't know you any more. Log in again as you do for kubectl. (%s)", plain(err))}
	case apierrors.IsNotFound(err):
		return notice{"No Assay here", sentence(cluster.Explain(err))}
	case err != nil && synced:
		return notice{"Not connected", fmt.Sprintf("Not connected since %s; metrics are of then. Runs go on. Trying again. (%s)", clock(since), plain(err))}
	case err != nil:
		return notice{"Not connected", fmt.Sprintf("The API server can't be reached. Trying again. (%s)", plain(err))}
	case !synced && now.Sub(since) > slowTimeout:
		return notice{"Loading", "Still waiting for the API server."}
	case !synced:
		return notice{"Loading", "Loading."}
	}
	return notice{}
}

func (s *store) where() string {
	if s.namespace == "" {
		return "all namespaces; choose one in which you may"
	}
	return "namespace " + s.namespace
}

// clock returns the time of day of the user's time zone.
func clock(t time.Time) string { return t.Local().Format("15:04:05") }
