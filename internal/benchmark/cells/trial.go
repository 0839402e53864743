package cells

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TrialJSON returns the spec of a trial at a load: that of the cell's runs with the load at capacity.path,
// and trialSeconds as the duration of the load instead of its requestCount or its own duration.
func (c *Cell) TrialJSON(template *v1alpha1.BenchmarkRunSpec, capacity *v1alpha1.Capacity, load int64) ([]byte, error) {
	doc, err := c.JSON(template)
	if err != nil {
		return nil, err
	}
	if doc, err = trial(doc, capacity, load); err != nil {
		return nil, fmt.Errorf("cell %s: %w", c.Name, err)
	}
	return doc, nil
}

func trial(doc []byte, capacity *v1alpha1.Capacity, load int64) ([]byte, error) {
	doc, err := Set(doc, capacity.Path, json.RawMessage(strconv.FormatInt(load, 10)))
	if err != nil {
		return nil, fmt.Errorf("set capacity.path %s: %w", capacity.Path, err)
	}
	var spec struct {
		Load map[string]json.RawMessage `json:"load"`
	}
	if err := json.Unmarshal(doc, &spec); err != nil {
		return nil, fmt.Errorf("set capacity.path %s: %w", capacity.Path, err)
	}
	seconds := json.RawMessage(strconv.Itoa(int(ptr.Deref(capacity.TrialSeconds, 30))))
	for _, shape := range []string{"open", "closed"} {
		if len(spec.Load[shape]) == 0 || string(spec.Load[shape]) == "null" {
			continue
		}
		if doc, err = patch(doc, operation{Op: "remove", Path: "/load/" + shape + "/requestCount"}); err == nil {
			doc, err = Set(doc, "/load/"+shape+"/durationSeconds", seconds)
		}
		if err != nil {
			return nil, fmt.Errorf("set load.%s.durationSeconds: %w", shape, err)
		}
		return doc, nil
	}
	return nil, errors.New("capacity needs load.open or load.closed: a trial has one load, for trialSeconds")
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
