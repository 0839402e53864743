package check

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// dryRun lets the API server judge the objects. What it takes is right, whatever this program's version of the schema says.
func dryRun(ctx context.Context, flags cluster.Flags, all []*Object) error {
	c, err := cluster.Connect(flags)
	if err != nil {
		return err
	}
	for _, o := range all {
		if definitions[o.Kind] == nil {
			continue
		}
		object := &unstructured.Unstructured{Object: o.fields}
		if object.GetNamespace() == "" {
			object.SetNamespace(c.Namespace)
		}
		data, err := json.Marshal(o.fields)
		if err != nil {
			return err
		}
		// As by kubectl apply --server-side, so that objects that exist are checked as changes.
		err = c.Patch(ctx, object.DeepCopy(), client.RawPatch(types.ApplyPatchType, data), client.DryRunAll,
			&client.PatchOptions{Force: ptr.To(true), FieldManager: "kubectl-assay-check"})
		if err := o.judge(err); err != nil {
			return err
		}
	}
	return nil
}

// judge adds to the problems of an object what the API server said. It returns an error if that isn't about the object.
func (o *Object) judge(err error) error {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		o.Problems = slices.DeleteFunc(o.Problems, func(p Problem) bool { return p.ofSchema })
		return nil
	case !errors.As(err, &status):
		return cluster.Explain(err)
	}
	details := ptr.Deref(status.Status().Details, metav1.StatusDetails{})
	if apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) && details.Kind != "namespaces" {
		return cluster.Explain(err)
	}
	causes := details.Causes
	if len(causes) == 0 {
		causes = []metav1.StatusCause{{Message: status.Status().Message}}
	}
	for _, cause := range causes {
		if cause.Field == "" || !slices.ContainsFunc(o.Problems, func(p Problem) bool { return p.Path == cause.Field }) {
			o.add(Problem{Path: cause.Field, Message: "the API server says: " + cause.Message})
		}
	}
	return nil
}
