package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Axis is one thing that varies: a field with several values, or named sets of changes.
//
// +kubebuilder:validation:ExactlyOneOf=path;options
type Axis struct {
	// name is the axis's name in reports and in exclude.
	// +required
	Name DNSLabel `json:"name,omitempty"`

	// path is the field that gets the values, as a JSON pointer (RFC 6901) into the template's spec,
	// such as /load/closed/connections. Missing objects on the way to it are created. In
	// a list, a position's element is replaced, and - adds one. An axis has either a path with
	// values, or options.
	// +optional
	Path JSONPointer `json:"path,omitempty"`

	// values are the field's values, of the field's type. Required with path.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Values []apiextensionsv1.JSON `json:"values,omitempty"`

	// options are named sets of changes.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Options []AxisOption `json:"options,omitempty"`
}

// AxisOption is a named set of changes of the template's spec. Without changes it is the template itself.
type AxisOption struct {
	// name is the option's name.
	// +required
	Name DNSLabel `json:"name,omitempty"`

	// remove has the fields to remove, as JSON pointers. They are removed before others are set. A
	// field that doesn't exist is ignored.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Remove []JSONPointer `json:"remove,omitempty"`

	// set has the fields to set.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Set []FieldValue `json:"set,omitempty"`
}

// FieldValue is the value of a field. Objects on the way to it are created where they are missing. In a list, a
// position's element is replaced, and - adds one.
type FieldValue struct {
	// path is the field, as a JSON pointer into the template's spec.
	// +required
	Path JSONPointer `json:"path,omitempty"`

	// value is the field's value, of the field's type.
	// +required
	Value *apiextensionsv1.JSON `json:"value,omitempty"`
}
