package wrapper

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
)

// Artifact returns a ConfigMap with an artifact under a key, and the reference to it.
func Artifact(namespace, name, key string, data []byte) (*corev1.ConfigMap, *v1alpha1.ArtifactReference) {
	identity := artifact.Identify(data)
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		BinaryData: map[string][]byte{key: data},
	}, &v1alpha1.ArtifactReference{ConfigMap: &v1alpha1.ArtifactConfigMap{Name: name, Key: key}, SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256}
}
