package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Target is the server under test.
//
// A rule that compares the whole target would refuse an update that writes the same amount of CPU
// or memory in another form, as every typed client does: Resources compares its own.
//
// +kubebuilder:validation:XValidation:rule="has(self.server.external) || has(self.image)",reason="FieldValueRequired",fieldPath=".image",message="image must be set, unless the server is external"
// +kubebuilder:validation:XValidation:rule="!has(self.server.external) || !(has(self.image) || has(self.content) || has(self.backends) || has(self.securityContext))",reason="FieldValueForbidden",message="image, content, backends and securityContext must be omitted with an external server"
// +kubebuilder:validation:XValidation:rule="!has(self.server.external) || !has(self.labels) && !has(self.annotations) && !has(self.env) && !has(self.volumes) && !has(self.volumeMounts)",message="labels, annotations, env, volumes and volumeMounts must be omitted with an external server"
// +kubebuilder:validation:XValidation:rule="!has(self.server.external) || !has(self.nodeSelector) && !has(self.affinity) && !has(self.tolerations) && !has(self.priorityClassName)",message="nodeSelector, affinity, tolerations and priorityClassName must be omitted with an external server"
// +kubebuilder:validation:XValidation:rule="!has(self.server.external) || !has(self.runtimeClassName) && !has(self.imagePullSecrets) && !has(self.hostAliases) && !has(self.dnsConfig)",message="runtimeClassName, imagePullSecrets, hostAliases and dnsConfig must be omitted with an external server"
// +kubebuilder:validation:XValidation:rule="!has(self.backends) || self.backends.all(b, !has(b.volumeMounts) || b.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name)))",fieldPath=".backends",message="volumeMounts must name members of target.volumes"
// +kubebuilder:validation:XValidation:rule="self.podSecurity != 'Restricted' || self.?securityContext.runAsUser.orValue(1) != 0 && self.?securityContext.runAsNonRoot.orValue(true)",fieldPath=".securityContext",message="securityContext must not run as root with podSecurity Restricted: set Baseline"
// +kubebuilder:validation:XValidation:rule="self.podSecurity != 'Restricted' || !self.?securityContext.allowPrivilegeEscalation.orValue(false)",fieldPath=".securityContext.allowPrivilegeEscalation",message="privileges must not grow with podSecurity Restricted: set Baseline"
// +kubebuilder:validation:XValidation:rule="self.podSecurity != 'Restricted' || !has(self.backends) || self.backends.all(b, b.?securityContext.runAsUser.orValue(1) != 0 && b.?securityContext.runAsNonRoot.orValue(true))",fieldPath=".backends",message="must not run as root with Restricted"
// +kubebuilder:validation:XValidation:rule="self.podSecurity != 'Restricted' || !has(self.backends) || self.backends.all(b, !b.?securityContext.allowPrivilegeEscalation.orValue(false))",fieldPath=".backends",message="privileges must not grow with podSecurity Restricted: set Baseline"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || has(self.server.external) || has(self.tls.certificate)",reason="FieldValueRequired",fieldPath=".tls.certificate",message="certificate must be set, unless the server is external: selfSigned {} needs nothing else"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.server.external) || !has(self.tls.certificate)",reason="FieldValueForbidden",fieldPath=".tls.certificate",message="certificate must be omitted with an external server, which has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.server.external) || self.server.external.url.startsWith('https:')",fieldPath=".tls",message="tls must be omitted when server.external.url is http: use an https url, or no tls"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedCPU) || has(self.backends)",reason="FieldValueForbidden",fieldPath=".sharedCPU",message="sharedCPU is for targets with backends: a server alone has resources.cpu"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedCPU) || self.?resources.cpuPinning.orValue('Preferred') != 'Required'",fieldPath=".sharedCPU",message="sharedCPU must not be set when cpuPinning is Required: shared CPUs are exclusive to none"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedCPU) || !has(self.backends) || self.backends.all(b, b.?resources.cpuPinning.orValue('Preferred') != 'Required')",fieldPath=".sharedCPU",message="sharedCPU must not be set when cpuPinning of a backend is Required"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedCPU) || quantity(string(self.sharedCPU)).compareTo(quantity('100m')) >= 0",fieldPath=".sharedCPU",message="sharedCPU must be at least 100m"
// +kubebuilder:validation:XValidation:rule="!has(self.server.httpd) || !has(self.server.httpd.forward) || self.server.httpd.forward.all(f, f.?protocol.orValue(\"\") != 'AJP' || self.backends.exists(b, b.name == f.backend && b.server.?tomcat.ajp.hasValue()))",message="AJP forward needs tomcat.ajp"
// +kubebuilder:validation:XValidation:rule="!has(self.server.httpd) || !has(self.server.httpd.forward) || self.server.httpd.forward.all(f, has(self.backends) && self.backends.exists(b, b.name == f.backend))",fieldPath=".server.httpd.forward",message="forward must name members of target.backends"
// +kubebuilder:validation:XValidation:rule="!has(self.server.nginx) || !has(self.server.nginx.forward) || self.server.nginx.forward.all(f, has(self.backends) && self.backends.exists(b, b.name == f.backend))",fieldPath=".server.nginx.forward",message="forward must name members of target.backends"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?tomcat.optMap(s,self.backends.all(b,b.server.?generic.port.or(b.server.?tomcat.connector.port).orValue(8080) != s.?connector.port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="a backend has the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?tomcat.optMap(s,self.backends.all(b,b.server.?tomcat.ajp.optMap(a, a.?port.orValue(8009)).orValue(0) != s.?connector.port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="ajp.port is the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?httpd.optMap(s,self.backends.all(b,b.server.?generic.port.or(b.server.?tomcat.connector.port).orValue(8080) != s.?port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="a backend has the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?httpd.optMap(s,self.backends.all(b,b.server.?tomcat.ajp.optMap(a, a.?port.orValue(8009)).orValue(0) != s.?port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="ajp.port is the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?nginx.optMap(s,self.backends.all(b,b.server.?generic.port.or(b.server.?tomcat.connector.port).orValue(8080) != s.?port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="a backend has the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?nginx.optMap(s,self.backends.all(b,b.server.?tomcat.ajp.optMap(a, a.?port.orValue(8009)).orValue(0) != s.?port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="ajp.port is the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?jetty.optMap(s,self.backends.all(b,b.server.?generic.port.or(b.server.?tomcat.connector.port).orValue(8080) != s.?connector.port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="a backend has the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?jetty.optMap(s,self.backends.all(b,b.server.?tomcat.ajp.optMap(a, a.?port.orValue(8009)).orValue(0) != s.?connector.port.orValue(has(self.tls)?8443:8080))).orValue(true)",message="ajp.port is the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?generic.optMap(s,self.backends.all(b,b.server.?generic.port.or(b.server.?tomcat.connector.port).orValue(8080) != s.?port.orValue(8080))).orValue(true)",message="a backend has the server's port"
// +kubebuilder:validation:XValidation:rule="!has(self.backends)||self.server.?generic.optMap(s,self.backends.all(b,b.server.?tomcat.ajp.optMap(a, a.?port.orValue(8009)).orValue(0) != s.?port.orValue(8080))).orValue(true)",message="ajp.port is the server's port"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?imagePullPolicy), dyn(has(self.sharedCPU))] == [dyn(oldSelf.?imagePullPolicy), dyn(has(oldSelf.sharedCPU))]",message="imagePullPolicy and sharedCPU must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?podSecurity), dyn(self.?readiness), dyn(self.?backends)] == [dyn(oldSelf.?podSecurity), dyn(oldSelf.?readiness), dyn(oldSelf.?backends)]",message="podSecurity, readiness and backends must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?content), dyn(self.?server), dyn(self.?image), dyn(self.?tls)] == [dyn(oldSelf.?content), dyn(oldSelf.?server), dyn(oldSelf.?image), dyn(oldSelf.?tls)]",message="content, server, image and tls must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedCPU) || quantity(string(self.sharedCPU)).compareTo(quantity(string(oldSelf.sharedCPU))) == 0",message="sharedCPU must not change: create a new run"
type Target struct {
	PodSettings `json:",inline"`

	// image is the container image of the server. An external server has none.
	// +optional
	Image ImageName `json:"image,omitempty"`

	// imagePullPolicy says when the image is pulled: Always, IfNotPresent or
	// Never. Defaults to IfNotPresent.
	// +default="IfNotPresent"
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// resources are the requests and limits of the server's container.
	// Defaults to one CPU and 1Gi of memory.
	// +kubebuilder:validation:XValidation:rule="[dyn(self.?cpuPinning), dyn(has(self.cpu)), dyn(has(self.memory))] == [dyn(oldSelf.?cpuPinning), dyn(has(oldSelf.cpu)), dyn(has(oldSelf.memory))]",message="must not change: create a new run"
	// +kubebuilder:validation:XValidation:rule="!has(self.cpu) || quantity(string(self.cpu)).compareTo(quantity(string(oldSelf.cpu))) == 0",message="must not change: create a new run"
	// +kubebuilder:validation:XValidation:rule="!has(self.memory) || quantity(string(self.memory)).compareTo(quantity(string(oldSelf.memory))) == 0",message="must not change: create a new run"
	// +default={}
	// +optional
	Resources Resources `json:"resources,omitempty,omitzero"`

	// sharedCPU is the number of CPUs that the server and its backends may use together; the resources
	// of each still limit that one. The CPUs aren't exclusive. It needs Kubernetes 1.34 or later. If not set, all together may use the sum of their resources.
	// +optional
	SharedCPU *resource.Quantity `json:"sharedCPU,omitempty"`

	// server says how the image is configured: exactly one of tomcat, httpd, nginx, jetty, generic
	// and external.
	// +required
	Server Server `json:"server,omitempty,omitzero"`

	// tls configures TLS between the clients and the target. If not set, there is none, unless the
	// url of an external server is https.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// backends are further servers in the target's pod, to which the server
	// forwards requests. Each is sampled on its own.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(b, self.exists_one(o, o.server.?generic.port.or(o.server.?tomcat.connector.port).orValue(8080) == b.server.?generic.port.or(b.server.?tomcat.connector.port).orValue(8080)))",message="backends must have different ports: by default 8080"
	// +kubebuilder:validation:XValidation:rule="self.all(b, !has(b.server.tomcat) || !has(b.server.tomcat.ajp) || self.all(o, o.server.?generic.port.or(o.server.?tomcat.connector.port).orValue(8080) != b.server.tomcat.ajp.?port.orValue(8009)))",message="a backend's ajp.port must be no backend's port"
	// +kubebuilder:validation:XValidation:rule="self.all(b, !b.server.?tomcat.ajp.hasValue() || self.exists_one(o, o.server.?tomcat.ajp.hasValue() && o.server.tomcat.ajp.?port.orValue(8009) == b.server.tomcat.ajp.?port.orValue(8009)))",message="backends must have different ajp.port"
	// +optional
	Backends []Backend `json:"backends,omitempty"`

	// content lists files that the server serves, created before it starts. Responses for these
	// paths must have exactly the file's length, else they count as errors of the kind length; but
	// not those of .jsp and .jspx, which the server executes.
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(f, !self.exists(g, g.path.startsWith(f.path + '/')))",message="content must not have a path that is both a file and a directory: rename one of them"
	// +optional
	Content []ContentFile `json:"content,omitempty"`

	// readiness says when the server counts as ready for load.
	// +default={"timeoutSeconds": 300}
	// +optional
	Readiness Readiness `json:"readiness,omitempty,omitzero"`

	// podSecurity says which Pod Security Standard the target's pod meets: Restricted runs the
	// server as user 65532 without any capability; Baseline runs it as the user its image names,
	// for images that need root. The agent's sidecar is restricted in both. Defaults to
	// Restricted.
	// +default="Restricted"
	// +optional
	PodSecurity PodSecurity `json:"podSecurity,omitempty"`
}

// Backend is a further server in the target's pod. It shares the pod's network
// with the others, and the content.
type Backend struct {
	// name is the name of the container.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && !(self in ['server', 'agent', 'content'])",message="name must consist of lowercase letters, digits and '-', begin with a letter, and not be server, agent or content"
	// +required
	Name string `json:"name,omitempty"`

	// image is the container image of the server.
	// +required
	Image ImageName `json:"image,omitempty"`

	// resources are the requests and limits of the container. Defaults to
	// one CPU and 1Gi of memory.
	// +optional
	Resources Resources `json:"resources,omitempty,omitzero"`

	// env are environment variables of the server.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Env []EnvironmentVariable `json:"env,omitempty"`

	// volumeMounts mount members of target.volumes.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`

	// securityContext is the container's. What it doesn't set is as in target.securityContext.
	// +optional
	SecurityContext *ContainerSecurityContext `json:"securityContext,omitempty"`

	// server says how the image is configured: exactly one of tomcat and generic.
	// Its port must be another than the server's and the other backends'.
	// +required
	Server BackendServer `json:"server,omitempty,omitzero"`
}

// BackendServer says how a backend's image is configured.
//
// +kubebuilder:validation:ExactlyOneOf=tomcat;generic
type BackendServer struct {
	// tomcat configures an image with the layout of the official Tomcat image.
	// +optional
	Tomcat *TomcatServer `json:"tomcat,omitempty"`

	// generic starts any image as it is.
	// +optional
	Generic *GenericServer `json:"generic,omitempty"`
}

// AsServer returns the backend's server in the terms of the one that clients talk to.
func (b *BackendServer) AsServer() *Server { return &Server{Tomcat: b.Tomcat, Generic: b.Generic} }

// PullSecret names a Secret with the credentials for pulling an image.
type PullSecret struct {
	// name is the Secret's name.
	// +required
	Name SecretName `json:"name,omitempty"`
}

// PodSecurity names a Pod Security Standard.
//
// +kubebuilder:validation:Enum=Restricted;Baseline
type PodSecurity string

// The values of PodSecurity.
const (
	PodSecurityRestricted PodSecurity = "Restricted"
	PodSecurityBaseline   PodSecurity = "Baseline"
)

// Resources are the requests and limits of a container.
//
// +kubebuilder:validation:XValidation:rule="self.?cpuPinning.orValue('Preferred') != 'Required' || !has(self.cpu) || [quantity(string(self.cpu)).asApproximateFloat()].all(n, [n - double(int(n + 0.5))].all(d, d * d < 2.5e-19))",fieldPath=".cpu",message="cpu must be whole when cpuPinning is Required"
// +kubebuilder:validation:XValidation:rule="!has(self.cpu) || quantity(string(self.cpu)).compareTo(quantity('10m')) >= 0",fieldPath=".cpu",message="cpu must be at least 10m"
// +kubebuilder:validation:XValidation:rule="!has(self.memory) || quantity(string(self.memory)).compareTo(quantity('16Mi')) >= 0",fieldPath=".memory",message="memory must be at least 16Mi"
type Resources struct {
	// cpu is the number of CPUs. Whole CPUs become exclusive to the container
	// where the node's kubelet has the static CPU manager policy. Defaults to 1.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is the amount of memory in bytes. Defaults to 1Gi for the target and
	// 512Mi for a client.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// cpuPinning says whether exclusive CPUs are a condition of the run: with Required a run whose
	// container shares its CPUs fails; with Preferred the status says whether they are. Defaults to
	// Preferred.
	// +optional
	CPUPinning CPUPinning `json:"cpuPinning,omitempty"`
}

// CPUPinning says whether exclusive CPUs are a condition of a run.
//
// +kubebuilder:validation:Enum=Required;Preferred
type CPUPinning string

// The values of CPUPinning.
const (
	CPUPinningRequired  CPUPinning = "Required"
	CPUPinningPreferred CPUPinning = "Preferred"
)

// ContentFile is a file that the server serves: generated, or from a ConfigMap.
//
// +kubebuilder:validation:ExactlyOneOf=sizeBytes;configMapKeyRef
// +kubebuilder:validation:XValidation:rule="!has(self.fill) || has(self.sizeBytes)",fieldPath=".fill",message="fill must not be set with configMapKeyRef, from which the file is copied"
type ContentFile struct {
	// path is the path of the file in the server's URLs.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$')",message="path must begin with a slash and consist of segments of letters, digits, '.', '_' and '-', each beginning with a letter, digit or '_', such as /js/bootstrap.min.js"
	// +required
	Path string `json:"path,omitempty"`

	// sizeBytes is the size of the file in bytes, which come from a fixed seed.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8589934592
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// fill says what a generated file has: Random, bytes that don't compress, or Text, words of English
	// that compress to about a third. Defaults to Random.
	// +optional
	Fill ContentFill `json:"fill,omitempty"`

	// configMapKeyRef is a key of a ConfigMap of the run's namespace from which the file is copied,
	// once, when the run starts.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyReference `json:"configMapKeyRef,omitempty"`
}

// ContentFill says what a generated file has.
//
// +kubebuilder:validation:Enum=Random;Text
type ContentFill string

// The values of ContentFill.
const (
	ContentRandom ContentFill = "Random"
	ContentText   ContentFill = "Text"
)

// ConfigMapKeyReference names a key of a ConfigMap.
type ConfigMapKeyReference struct {
	// name is the ConfigMap's name.
	// +required
	Name ConfigMapName `json:"name,omitempty"`

	// key is the key.
	// +required
	Key DataKey `json:"key,omitempty"`
}

// Readiness says when the server counts as ready for load: when it answers the readiness probe with success. That is the first
// request of the load, as the load sends it, and its success; each field replaces a part of it. With path it is a GET
// without credentials, whose success is a status from 200 to 399.
//
// +kubebuilder:validation:XValidation:rule="!has(self.port) || has(self.path)",fieldPath=".path",message="path must be set with port: it is a path of that port"
type Readiness struct {
	// path is the path of the readiness probe. Defaults to the path of the first request of the
	// load.
	// +optional
	Path URLPath `json:"path,omitempty"`

	// host is the probe's Host header. Defaults to that of the first request.
	// +optional
	Host HostPort `json:"host,omitempty"`

	// headers are the probe's headers. Defaults to those of the first request.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(h, self.exists_one(g, g.name.lowerAscii() == h.name.lowerAscii()))",message="headers must not have the same name twice: uppercase and lowercase letters are the same in it"
	// +optional
	Headers []Header `json:"headers,omitempty"`

	// port is another port of the target to probe, in plain HTTP/1.1, such as one for management. The server's own port must
	// respond then, too, with any status.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// timeoutSeconds is the timeout from the creation of the target's pod until it is ready, in
	// seconds. Past it the run ends with the reason TargetNotReady. Defaults to 300.
	// +default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
}
