package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// maxShownChanges limits the changes of pods that a message names. The environment has all.
const maxShownChanges = 4

// containerInjected finds containers that the cluster added to the pods of the run, such as the proxy of a mesh: they take CPU during the
// measurement, and requests may pass through them.
func containerInjected(r *result.Result) *result.Finding {
	changes := changesWith(r, result.EffectContainer)
	if len(changes) == 0 {
		return nil
	}
	return found(ReasonContainerInjected, result.Invalidates,
		"Something in the cluster added to pods of the run what ran during the measurement: %s. Requests may have passed through it. "+
			"Exempt the run's pods from the injection, such as by a label of the pods or the namespace, or accept the finding to measure the server with it.", strings.Join(changes, "; "))
}

// podChanged finds pods that ran with other resources or in another way than declared.
func podChanged(r *result.Result) *result.Finding {
	changes := append(changesWith(r, result.EffectResources), changesWith(r, result.EffectProcess)...)
	if len(changes) == 0 {
		return nil
	}
	return found(ReasonPodChanged, result.Invalidates,
		"Something in the cluster changed pods of the run after they were written: %s. The result is not that of the declared run. "+
			"Exempt the run's pods from the admission webhook or policy that does it, or accept the finding.", strings.Join(changes, "; "))
}

// changesWith describes the changes of pods with an effect.
func changesWith(r *result.Result, effect string) []string {
	var changes []string
	n := 0
	for _, c := range r.Environment.PodChanges {
		if c.Effect != effect {
			continue
		}
		if n++; n > maxShownChanges {
			continue
		}
		whose := "the target"
		if c.Role == result.RoleClient {
			whose = ofClients(int(c.Pods), r)
		}
		switch {
		case c.Was == "":
			changes = append(changes, fmt.Sprintf("%s of %s (%s) was added", c.Field, whose, c.Is))
		case c.Is == "":
			changes = append(changes, fmt.Sprintf("%s of %s (%s) was removed", c.Field, whose, c.Was))
		case c.Was == c.Is:
			changes = append(changes, fmt.Sprintf("%s of %s was changed", c.Field, whose))
		default:
			changes = append(changes, fmt.Sprintf("%s of %s is %s instead of %s", c.Field, whose, c.Is, c.Was))
		}
	}
	if n > maxShownChanges {
		changes = append(changes, fmt.Sprintf("and %d more", n-maxShownChanges))
	}
	return changes
}
