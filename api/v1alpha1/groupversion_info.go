// Package v1alpha1 holds the kinds of the assay.dev/v1alpha1 API, their
// conditions and the reasons those conditions take. It holds no behaviour.
//
// +kubebuilder:object:generate=true
// +groupName=assay.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the API group and version of the kinds in this package.
	GroupVersion = schema.GroupVersion{Group: "assay.dev", Version: "v1alpha1"}

	// SchemeBuilder collects the functions that add the kinds to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &BenchmarkRun{}, &BenchmarkRunList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
