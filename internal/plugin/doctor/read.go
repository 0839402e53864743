package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// codecs decodes errors of the API server.
var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // has Status
	return serializer.NewCodecFactory(scheme)
}()

// examination reads a cluster by the paths of the API: some of what it reads, such as the kubelet's configuration, has
// no typed client.
type examination struct {
	client    rest.Interface
	namespace string
	// version is the plugin's version.
	version string
	now     func() time.Time

	// home is the namespace of the release that the CRDs belong to, empty if they don't say. Only administrators can write it.
	home string
	// operator is the installation that was found, or nil.
	operator *operator
	// serving are the Deployments of operators that serve the namespace.
	serving []string
	nodes   []node
}

// maxList bounds the number of objects of a kind that are read.
const maxList = 500

// get reads the object, or the list of the objects with some labels, at a path.
func (e *examination) get(ctx context.Context, path, labels string, into any) error {
	request := e.client.Get().AbsPath(path).Param("limit", fmt.Sprint(maxList))
	if labels != "" {
		request = request.Param("labelSelector", labels)
	}
	return read(ctx, request, into)
}

// read sends a request and reads its answer. An error is what the API server says of it.
func read(ctx context.Context, request *rest.Request, into any) error {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return err
	}
	data, err := result.Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// getMetadata reads the metadata of an object, such as that of a Secret, whose contents nobody should see.
func (e *examination) getMetadata(ctx context.Context, path string, into any) error {
	return read(ctx, e.client.Get().AbsPath(path).SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), into)
}

// unreadable returns the check for what could not be read, with the right that it takes. what is in the middle of a sentence.
func unreadable(name, what, right string, err error) Check {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return Check{name, Unknown, "You may not read " + what + ".", "Ask an administrator, or for the right to " + right + "."}
	}
	return Check{name, Unknown, fmt.Sprintf("Reading %s failed: %v", what, err), ""}
}

// absent reports whether the cluster doesn't have an object, or its kind.
func absent(err error) bool { return apierrors.IsNotFound(err) }
