package cells

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TrialJSON returns the spec of a trial at a load: that of the cell's runs with the load at capacity.path,
// and trialSeconds as the duration of the load instead of its requestCount or its own duration.
func (c *Cell) TrialJSON(template *v1alpha1.BenchmarkRunSpec, capacity *v1alpha1.Capacity, load int64) ([]byte, error) {
	doc, err := c.document(template)
	if err != nil {
		return nil, err
	}
	if doc, err = set(doc, capacity.Path, load); err != nil {
		return nil, fmt.Errorf("cell %s: set capacity.path %s: %w", c.Name, capacity.Path, err)
	}
	loads, _ := doc.(map[string]any)["load"].(map[string]any)
	for _, name := range []string{"open", "closed"} {
		if shape, ok := loads[name].(map[string]any); ok {
			delete(shape, "requestCount")
			shape["durationSeconds"] = ptr.Deref(capacity.TrialSeconds, 30)
			return json.Marshal(doc)
		}
	}
	return nil, fmt.Errorf("cell %s: capacity needs load.open or load.closed: a trial has one load, for trialSeconds", c.Name)
}

// LoadOf returns the load that a trial tries: the number at capacity.path in the spec of its run.
func LoadOf(spec *v1alpha1.BenchmarkRunSpec, capacity *v1alpha1.Capacity) (int64, error) {
	doc, err := json.Marshal(spec)
	if err != nil {
		return 0, fmt.Errorf("encode spec: %w", err)
	}
	var node any
	if err := json.Unmarshal(doc, &node); err != nil {
		return 0, fmt.Errorf("encode spec: %w", err)
	}
	for _, token := range strings.Split(capacity.Path, "/")[1:] {
		if node, _, err = lookUp(node, token); err != nil {
			return 0, fmt.Errorf("%s: %w", capacity.Path, err)
		}
	}
	load, ok := node.(float64)
	if !ok || load < 1 || load != math.Trunc(load) || load > 1<<53 {
		return 0, fmt.Errorf("%s: it is %v, must be a whole number", capacity.Path, node)
	}
	return int64(load), nil
}
