// Package v1alpha1 has the kinds of the assay.dev/v1alpha1 API, their
// conditions and the reasons those conditions take. It has no behavior.
//
// +kubebuilder:object:generate=true
// +groupName=assay.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "assay.dev", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion, by the name that kubebuilder's scaffolding has for it.
var SchemeGroupVersion = GroupVersion

// SchemeBuilder adds the kinds of this package to a scheme. A kind that kubebuilder has scaffolded registers itself.
var SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &BenchmarkRun{}, &BenchmarkRunList{}, &Benchmark{}, &BenchmarkList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error { return SchemeBuilder.AddToScheme(scheme) }
