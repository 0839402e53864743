package benchmarkrun

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
)

// readRequests takes the list of requests from the user's ConfigMaps as they were
// read.
func (in *inputs) readRequests(run *v1alpha1.BenchmarkRun, read map[string]*corev1.ConfigMap) error {
	from := run.Spec.Load.RequestsFrom
	if from == nil || read[from.ConfigMapKeyRef.Name] == nil {
		return nil
	}
	ref := &from.ConfigMapKeyRef
	text, ok := valueOf(read[ref.Name], ref.Key)
	if !ok {
		in.missing = append(in.missing, fmt.Sprintf("ConfigMap %s has no key %s", ref.Name, ref.Key))
		return nil
	}
	entries, err := requestlist.Parse(string(text))
	if err != nil {
		in.wrong = fmt.Errorf("spec.load.requestsFrom: ConfigMap %s, key %s: %w", ref.Name, ref.Key, err)
		return nil
	}
	in.Requests, err = requestlist.Encode(entries)
	return err
}

// requestList is the list of requests of a run that has one, as its ConfigMap has
// it, or will have it; nil where that isn't known.
func requestList(o *observed) []byte {
	switch {
	case o.config != nil:
		return manifest.ReadRequests(o.config)
	case o.inputs != nil:
		return o.inputs.Requests
	}
	return nil
}

// describeList says of a result where its list of requests is from; nil for none.
func describeList(run *v1alpha1.BenchmarkRun, o *observed) *result.RequestList {
	from := run.Spec.Load.RequestsFrom
	if from == nil {
		return nil
	}
	described := &result.RequestList{ConfigMap: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key}
	if entries, err := requestlist.Decode(requestList(o)); err == nil { // it may be gone by now
		described.Requests = int64(len(entries))
	}
	return described
}
