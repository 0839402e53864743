package wrapper

import (
	"reflect"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Tomcat makes the target a Tomcat, with one protocol or its default.
func (r *Run) Tomcat(protocol ...v1alpha1.TomcatProtocol) *Run {
	tomcat := &v1alpha1.TomcatServer{}
	if len(protocol) > 0 {
		tomcat.Connector.Protocol = protocol[0]
	}
	r.Spec.Target.Server = v1alpha1.Server{Tomcat: tomcat}
	return r
}

// HTTPD makes the target an Apache httpd with defaults.
func (r *Run) HTTPD() *Run {
	r.Spec.Target.Server = v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}
	return r
}

// Nginx makes the target an nginx with defaults.
func (r *Run) Nginx() *Run {
	r.Spec.Target.Server = v1alpha1.Server{Nginx: &v1alpha1.NginxServer{}}
	return r
}

// External makes the target a server that isn't started.
func (r *Run) External(url string) *Run {
	r.Spec.Target.Image = ""
	r.Spec.Target.Server = v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: url}}
	return r
}

// Configuration gives the target the user's own configuration: the name of a
// ConfigMap. It is for servers that have a field of this name.
func (r *Run) Configuration(configMap string) *Run {
	r.serverField("Configuration").Set(reflect.ValueOf(&v1alpha1.Configuration{ConfigMapName: configMap}))
	return r
}

// serverField returns a field of the server, whichever it is.
func (r *Run) serverField(name string) reflect.Value {
	for _, member := range reflect.ValueOf(&r.Spec.Target.Server).Elem().Fields() {
		if !member.IsNil() {
			return member.Elem().FieldByName(name)
		}
	}
	panic("the run has no server")
}

// Forward makes httpd or nginx forward paths to a backend: those with an end such
// as .jsp, or with a beginning such as /app.
func (r *Run) Forward(path, backend string) *Run {
	forward := v1alpha1.Forward{Backend: backend}
	if strings.HasPrefix(path, ".") {
		forward.PathSuffix = path
	} else {
		forward.PathPrefix = path
	}
	routes := r.serverField("Forward")
	routes.Set(reflect.Append(routes, reflect.ValueOf(forward)))
	return r
}

// Backend adds a small backend to the target's pod.
func (r *Run) Backend(name, image string, server v1alpha1.BackendServer) *Run {
	r.Spec.Target.Backends = append(r.Spec.Target.Backends,
		v1alpha1.Backend{Name: name, Image: image, Resources: Resources("100m", "128Mi"), Server: server})
	return r
}

// TomcatBackend is a Tomcat on a port.
func TomcatBackend(port int32) v1alpha1.BackendServer {
	return v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: ptr.To(port)}}}
}

// GenericBackend is an image as it is, on a port.
func GenericBackend(port int32, args ...string) v1alpha1.BackendServer {
	return v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: ptr.To(port), Args: args}}
}

// ContentFrom makes the target serve a file from a ConfigMap, and the clients request it.
func (r *Run) ContentFrom(path, configMap, key string) *Run {
	r.Spec.Target.Content = append(r.Spec.Target.Content,
		v1alpha1.ContentFile{Path: path, ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: configMap, Key: key}})
	return r.Path(path)
}

// Pod puts settings on the target's pod.
func (r *Run) Pod(settings *v1alpha1.PodSettings) *Run {
	r.Spec.Target.PodSettings = *settings
	return r
}
