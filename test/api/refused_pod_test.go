package api

import (
	"strings"
	"testing"
)

// withPod gives minimal's target settings of its pod.
func withPod(fields string) string { return `spec: {target: {` + fields + `}}` }

// withNodes gives minimal's target an affinity to nodes.
func withNodes(requirement string) string {
	return withPod(`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{` + requirement + `}]}]}}}`)
}

// withBackends gives minimal's target backends.
func withBackends(items string) string { return `spec: {target: {backends: [` + items + `]}}` }

// withContent gives minimal's target one file of content.
func withContent(fields string) string {
	return `spec: {target: {content: [{path: /a, ` + fields + `}]}}`
}

const generic = `image: a, server: {generic: {port: 9000}}`

var podRefusals = []refusal{
	// backends
	{name: "no backends", patch: withBackends(``), rawOnly: true,
		want: []string{"spec.target.backends", "at least 1 item"}},
	{name: "five backends", patch: withBackends(list(5, `{name: a%d, image: a, server: {generic: {}}}`)),
		want: []string{"spec.target.backends", "at most 4 items"}},
	{name: "backend without a name", patch: withBackends(`{` + generic + `}`),
		want: []string{"spec.target.backends[0].name", "Required value"}},
	{name: "backend twice", patch: withBackends(`{name: a, ` + generic + `}, {name: a, image: a, server: {generic: {port: 9001}}}`),
		want: []string{"spec.target.backends[1]", "Duplicate value", `"name":"a"`}},
	{name: "backend that begins with a digit", patch: withBackends(`{name: 1a, ` + generic + `}`),
		want: []string{"spec.target.backends[0].name", "begin with a letter"}},
	{name: "backend with a long name", patch: withBackends(`{name: ` + strings.Repeat("a", 33) + `, ` + generic + `}`),
		want: []string{"spec.target.backends[0].name", "32"}},
	{name: "backend without an image", patch: withBackends(`{name: a, server: {generic: {port: 9000}}}`),
		want: []string{"spec.target.backends[0].image", "Required value"}},
	{name: "backend with a space in its image", patch: withBackends(`{name: a, image: a b, server: {generic: {port: 9000}}}`),
		want: []string{"spec.target.backends[0].image", "name of a container image", "without spaces"}},
	{name: "backend without a server", patch: withBackends(`{name: a, image: a}`),
		want: []string{"spec.target.backends[0].server", "Required value"}},
	{name: "backend with nothing in its server", patch: withBackends(`{name: a, image: a, server: {}}`),
		want: []string{"spec.target.backends[0].server"}},
	{name: "backend with two servers", patch: withBackends(`{name: a, image: a, server: {generic: {port: 9000}, tomcat: {}}}`),
		want: []string{"spec.target.backends[0].server", "exactly one of the fields in [tomcat generic]"}},
	{name: "backend that is nginx", patch: withBackends(`{name: a, image: a, server: {nginx: {}}}`), rawOnly: true,
		want: []string{"unknown field", "spec.target.backends[0].server.nginx"}},
	{name: "backend with part of a CPU pinned", patch: withBackends(`{name: a, resources: {cpu: 500m, cpuPinning: Required}, ` + generic + `}`),
		want: []string{"spec.target.backends[0].resources.cpu", "must be whole when cpuPinning is Required"}},

	// ports
	{name: "backend on the server's port by default", patch: withBackends(`{name: a, image: a, server: {generic: {}}}`),
		want: []string{"spec.target:", "a backend has the server's port"}},
	{name: "backend on the port of a server with TLS", patch: `spec: {target: {server: {tomcat: null, nginx: {}}, tls: {certificate: {selfSigned: {}}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 8443}}}}]}}`,
		want: []string{"spec.target:", "a backend has the server's port"}},
	{name: "backend on the port that the server has set", patch: `spec: {target: {server: {tomcat: null, jetty: {connector: {port: 9000}}}, backends: [{name: a, ` + generic + `}]}}`,
		want: []string{"spec.target:", "a backend has the server's port"}},
	{name: "backend on the port of a generic server, which TLS doesn't change", patch: `spec: {target: {server: {tomcat: null, generic: {}}, tls: {certificate: {selfSigned: {}}}, backends: [{name: a, image: a, server: {tomcat: {}}}]}}`,
		want: []string{"spec.target:", "a backend has the server's port"}},
	{name: "two backends on one port", patch: withBackends(`{name: a, ` + generic + `}, {name: b, image: b, server: {tomcat: {connector: {port: 9000}}}}`),
		want: []string{"spec.target.backends", "must have different ports"}},
	{name: "two backends on one port by default", patch: `spec: {target: {server: {tomcat: {connector: {port: 9000}}}, backends: [{name: a, image: a, server: {tomcat: {}}}, {name: b, image: a, server: {generic: {}}}]}}`,
		want: []string{"spec.target.backends", "must have different ports"}},
	{name: "AJP on another backend's port", patch: withBackends(`{name: a, image: a, server: {generic: {port: 8009}}}, {name: b, image: b, server: {tomcat: {connector: {port: 9000}, ajp: {}}}}`),
		want: []string{"spec.target.backends", "ajp.port must be no backend's port"}},
	{name: "AJP on its own connector's port", patch: withBackends(`{name: b, image: b, server: {tomcat: {connector: {port: 9000}, ajp: {port: 9000}}}}`),
		want: []string{"spec.target.backends", "ajp.port must be no backend's port"}},
	{name: "AJP on one port", patch: withBackends(`{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {}}}}, {name: b, image: b, server: {tomcat: {connector: {port: 9001}, ajp: {port: 8009}}}}`),
		want: []string{"spec.target.backends", "must have different ajp.port"}},
	{name: "AJP on the port of Tomcat", patch: `spec: {target: {server: {tomcat: {connector: {port: 9001}}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {port: 9001}}}}]}}`,
		want: []string{"spec.target:", "ajp.port is the server's port"}},
	{name: "AJP on the port of Tomcat with TLS", patch: `spec: {target: {tls: {certificate: {selfSigned: {}}}, server: {tomcat: {}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {port: 8443}}}}]}}`,
		want: []string{"spec.target:", "ajp.port is the server's port"}},
	{name: "AJP on the port of httpd", patch: `spec: {target: {server: {tomcat: null, httpd: {}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {port: 8080}}}}]}}`,
		want: []string{"spec.target:", "ajp.port is the server's port"}},
	{name: "AJP on the port of nginx by default", patch: `spec: {target: {server: {tomcat: null, nginx: {port: 8009}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {}}}}]}}`,
		want: []string{"spec.target:", "ajp.port is the server's port"}},
	{name: "AJP on the port of Jetty", patch: `spec: {target: {server: {tomcat: null, jetty: {connector: {port: 9001}}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {port: 9001}}}}]}}`,
		want: []string{"spec.target:", "ajp.port is the server's port"}},
	{name: "AJP on the port of a generic server", patch: `spec: {target: {server: {tomcat: null, generic: {port: 9001}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000}, ajp: {port: 9001}}}}]}}`,
		want: []string{"spec.target:", "ajp.port is the server's port"}},

	// content
	{name: "text of a ConfigMap", patch: withContent(`configMapKeyRef: {name: a, key: b}, fill: Text`),
		want: []string{"spec.target.content[0].fill", "must not be set with configMapKeyRef"}},
	{name: "content of an unknown kind", patch: withContent(`sizeBytes: 1, fill: Zeros`),
		want: []string{"spec.target.content[0].fill", `"Random", "Text"`}},
	{name: "content of both kinds", patch: withContent(`sizeBytes: 1, configMapKeyRef: {name: a, key: b}`),
		want: []string{"spec.target.content[0]", "exactly one of the fields in [sizeBytes configMapKeyRef]"}},
	{name: "content of neither kind", patch: `spec: {target: {content: [{path: /a}]}}`,
		want: []string{"spec.target.content[0]", "exactly one of the fields in [sizeBytes configMapKeyRef]"}},
	{name: "content too large", patch: withContent(`sizeBytes: 8589934593`),
		want: []string{"spec.target.content[0].sizeBytes", "less than or equal to 8589934592"}},
	{name: "content without a ConfigMap", patch: withContent(`configMapKeyRef: {key: b}`),
		want: []string{"spec.target.content[0].configMapKeyRef.name", "Required value"}},
	{name: "content without a key", patch: withContent(`configMapKeyRef: {name: a}`),
		want: []string{"spec.target.content[0].configMapKeyRef.key", "Required value"}},
	{name: "content from a ConfigMap in capitals", patch: withContent(`configMapKeyRef: {name: A, key: b}`),
		want: []string{"spec.target.content[0].configMapKeyRef.name", "must be a name of lowercase letters"}},
	{name: "content from a path", patch: withContent(`configMapKeyRef: {name: a, key: b/c}`),
		want: []string{"spec.target.content[0].configMapKeyRef.key", "must be a key of letters"}},

	// pod
	{name: "no annotations", patch: withPod(`annotations: {}`), rawOnly: true,
		want: []string{"spec.target.annotations", "at least 1 properties"}},
	{name: "too many annotations", patch: withPod(`annotations: {` + list(33, `a%d: b`) + `}`),
		want: []string{"spec.target.annotations", "at most 32 items"}},
	{name: "Assay's annotation", patch: withPod(`annotations: {assay.dev/a: b}`),
		want: []string{"spec.target.annotations", "Assay's own", "omit them"}},
	{name: "annotation below Assay's", patch: withPod(`annotations: {a.assay.dev/a: b}`),
		want: []string{"spec.target.annotations", "Assay's own", "omit them"}},
	{name: "too many labels of nodes", patch: withPod(`nodeSelector: {` + list(33, `a%d: b`) + `}`),
		want: []string{"spec.target.nodeSelector", "at most 32 items"}},
	{name: "too many tolerations", patch: withPod(`tolerations: [` + list(33, `{key: a%d}`) + `]`),
		want: []string{"spec.target.tolerations", "at most 32 items"}},
	{name: "toleration of an unknown effect", patch: withPod(`tolerations: [{effect: NoRun}]`),
		want: []string{"spec.target.tolerations[0].effect", `"NoSchedule", "PreferNoSchedule", "NoExecute"`}},
	{name: "toleration by an unknown operator", patch: withPod(`tolerations: [{operator: In}]`),
		want: []string{"spec.target.tolerations[0].operator", `"Exists", "Equal"`}},
	{name: "toleration of an empty value", patch: withPod(`tolerations: [{key: a, value: ""}]`), rawOnly: true,
		want: []string{"spec.target.tolerations[0].value", "must be the value of a taint"}},
	{name: "priority class in capitals", patch: withPod(`priorityClassName: High`),
		want: []string{"spec.target.priorityClassName", "must be a name"}},
	{name: "runtime class in capitals", patch: withPod(`runtimeClassName: Kata`),
		want: []string{"spec.target.runtimeClassName", "must be a name"}},
	{name: "empty list of sysctls", patch: withPod(`securityContext: {sysctls: []}`), rawOnly: true,
		want: []string{"spec.target.securityContext", "spec.target.securityContext.sysctls in body should have at least 1"}},
	{name: "sysctl without a value", patch: withPod(`securityContext: {sysctls: [{name: a}]}`), rawOnly: true,
		want: []string{"spec.target.securityContext.sysctls[0].value", "Required value"}},
	{name: "host network", patch: withPod(`hostNetwork: true`), rawOnly: true,
		want: []string{"unknown field", "spec.target.hostNetwork"}},
	{name: "volume of the host", patch: withPod(`volumes: [{name: a, hostPath: {path: /}}]`), rawOnly: true,
		want: []string{"unknown field", "spec.target.volumes[0].hostPath"}},
	{name: "volume of two things", patch: withPod(`volumes: [{name: a, emptyDir: {}, configMap: {name: a}}]`),
		want: []string{"spec.target.volumes[0]", "exactly one of the fields in [configMap secret emptyDir persistentVolumeClaim]"}},
	{name: "volume of nothing", patch: withPod(`volumes: [{name: a}]`),
		want: []string{"spec.target.volumes[0]", "exactly one of the fields in [configMap secret emptyDir persistentVolumeClaim]"}},
	{name: "volume without a name", patch: withPod(`volumes: [{emptyDir: {}}]`),
		want: []string{"spec.target.volumes[0].name", "Required value"}},
	{name: "volume in capitals", patch: withPod(`volumes: [{name: A, emptyDir: {}}]`),
		want: []string{"spec.target.volumes[0].name", "lowercase letters"}},
	{name: "volume twice", patch: withPod(`volumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {medium: Memory}}]`),
		want: []string{"spec.target.volumes[1]", "Duplicate value"}},
	{name: "too many volumes", patch: withPod(`volumes: [` + list(17, `{name: a%d, emptyDir: {}}`) + `]`),
		want: []string{"spec.target.volumes", "at most 16 items"}},
	{name: "volume on tape", patch: withPod(`volumes: [{name: a, emptyDir: {medium: Tape}}]`),
		want: []string{"spec.target.volumes[0].emptyDir.medium", `"Memory"`}},
	{name: "volume of a ConfigMap without a name", patch: withPod(`volumes: [{name: a, configMap: {}}]`),
		want: []string{"spec.target.volumes[0].configMap.name", "Required value"}},
	{name: "volume of a Secret without a name", patch: withPod(`volumes: [{name: a, secret: {}}]`),
		want: []string{"spec.target.volumes[0].secret.secretName", "Required value"}},
	{name: "volume of a claim without a name", patch: withPod(`volumes: [{name: a, persistentVolumeClaim: {claimName: ""}}]`), rawOnly: true,
		want: []string{"spec.target.volumes[0].persistentVolumeClaim.claimName", "must be a name of lowercase letters"}},
	{name: "volume of a ConfigMap that can't be", patch: withPod(`volumes: [{name: a, configMap: {name: A_b}}]`),
		want: []string{"spec.target.volumes[0].configMap.name", "must be a name of lowercase letters"}},
	{name: "volume of a Secret that can't be", patch: withPod(`volumes: [{name: a, secret: {secretName: A_b}}]`),
		want: []string{"spec.target.volumes[0].secret.secretName", "must be a name of lowercase letters"}},
	{name: "volume of a claim that can't be", patch: withPod(`volumes: [{name: a, persistentVolumeClaim: {claimName: A_b}}]`),
		want: []string{"spec.target.volumes[0].persistentVolumeClaim.claimName", "must be a name"}},
	{name: "mode of no file", patch: withPod(`volumes: [{name: a, configMap: {name: a, defaultMode: 512}}]`),
		want: []string{"spec.target.volumes[0].configMap.defaultMode", "less than or equal to 511"}},
	{name: "annotation without a name", patch: withPod(`annotations: {"a/": b}`),
		want: []string{"spec.target.annotations", "names such as example.org/team"}},
	{name: "label of nodes that can't be", patch: withPod(`nodeSelector: {"a b": c}`),
		want: []string{"spec.target.nodeSelector", "labels such as example.org/disk"}},
	{name: "label of nodes with a long value", patch: withPod(`nodeSelector: {a: ` + strings.Repeat("a", 64) + `}`),
		want: []string{"spec.target.nodeSelector", "at most 63 characters"}},
	{name: "label with a long value", patch: withPod(`labels: {a: ` + strings.Repeat("a", 64) + `}`),
		want: []string{"spec.target.labels", "at most 63 characters"}},
	{name: "affinity to pods with what is no label", patch: withPod(`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {"a/": b}}, topologyKey: a}]}}`),
		want: []string{"labelSelector.matchLabels", "labels such as example.org/team"}},
	{name: "affinity to a value that can't be", patch: withNodes(`key: a, operator: In, values: [b c]`),
		want: []string{"matchExpressions[0].values[0]", "must be the value of a label"}},
	{name: "no labels", patch: withPod(`labels: {}`), rawOnly: true,
		want: []string{"spec.target.labels", "at least 1 properties"}},
	{name: "too many labels", patch: withPod(`labels: {` + list(33, `a%d: b`) + `}`),
		want: []string{"spec.target.labels", "at most 32 items"}},
	{name: "Assay's label", patch: withPod(`labels: {assay.dev/run: b}`),
		want: []string{"spec.target.labels", "Assay's own: omit them"}},
	{name: "label below Assay's", patch: withPod(`labels: {a.assay.dev/run: b}`),
		want: []string{"spec.target.labels", "Assay's own: omit them"}},
	{name: "label of the manager", patch: withPod(`labels: {app.kubernetes.io/managed-by: b}`),
		want: []string{"spec.target.labels", "Assay's own: omit them"}},
	{name: "label without a name", patch: withPod(`labels: {"a/": b}`),
		want: []string{"spec.target.labels", "names such as example.org/team"}},

	// affinity, names
	{name: "affinity to no terms", patch: withPod(`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}`), rawOnly: true,
		want: []string{"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", "Required value"}},
	{name: "affinity by an unknown operator", patch: withNodes(`key: a, operator: Has`),
		want: []string{"matchExpressions[0].operator", `"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"`}},
	{name: "affinity to no values", patch: withNodes(`key: a, operator: In`),
		want: []string{"matchExpressions[0].values", "must be set with In, NotIn, Gt and Lt"}},
	{name: "affinity to values that don't matter", patch: withNodes(`key: a, operator: Exists, values: [b]`),
		want: []string{"matchExpressions[0].values", "omitted with Exists and DoesNotExist"}},
	{name: "affinity to what is no label", patch: withNodes(`key: a b, operator: Exists`),
		want: []string{"matchExpressions[0].key", "must be the name of a label"}},
	{name: "affinity of no weight", patch: withPod(`affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}`),
		want: []string{"preferredDuringSchedulingIgnoredDuringExecution[0].weight", "less than or equal to 100"}},
	{name: "affinity to pods anywhere", patch: withPod(`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: b}}}]}}`), rawOnly: true,
		want: []string{"requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey", "Required value"}},
	{name: "affinity to any pods", patch: withPod(`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}`), rawOnly: true,
		want: []string{"requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector", "Required value"}},
	{name: "host alias of no address", patch: withPod(`hostAliases: [{ip: localhost, hostnames: [a]}]`),
		want: []string{"spec.target.hostAliases[0].ip", "must be an IPv4 or IPv6 address"}},
	{name: "host alias without names", patch: withPod(`hostAliases: [{ip: 127.0.0.1}]`),
		want: []string{"spec.target.hostAliases[0].hostnames", "Required value"}},
	{name: "host alias that is no name", patch: withPod(`hostAliases: [{ip: "::1", hostnames: [a b]}]`),
		want: []string{"spec.target.hostAliases[0].hostnames[0]", "must be a DNS name"}},
	{name: "four name servers", patch: withPod(`dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4]}`),
		want: []string{"spec.target.dnsConfig.nameservers", "at most 3 items"}},
	{name: "option of a resolver that can't be", patch: withPod(`dnsConfig: {options: [{name: N_DOTS}]}`),
		want: []string{"spec.target.dnsConfig.options[0].name", "must be the name of an option such as ndots"}},
	{name: "pull secret in capitals", patch: withPod(`imagePullSecrets: [{name: A}]`),
		want: []string{"spec.target.imagePullSecrets[0].name", "must be a name of lowercase letters"}},

	// privileges
	{name: "privileged server", patch: withPod(`securityContext: {privileged: true}`), rawOnly: true,
		want: []string{"unknown field"}},
	{name: "privileged server of Baseline", patch: `spec: {target: {podSecurity: Baseline, securityContext: {privileged: true}}}`, rawOnly: true,
		want: []string{"unknown field"}},
	{name: "server with all of proc", patch: withPod(`securityContext: {procMount: Unmasked}`), rawOnly: true,
		want: []string{"unknown field"}},
	{name: "server with every system call", patch: withPod(`securityContext: {seccompProfile: {type: Unconfined}}`),
		want: []string{"spec.target.securityContext.seccompProfile.type", `"RuntimeDefault", "Localhost"`}},
	{name: "server that escalates", patch: withPod(`securityContext: {allowPrivilegeEscalation: true}`),
		want: []string{"spec.target.securityContext.allowPrivilegeEscalation", "privileges must not grow with podSecurity Restricted: set Baseline"}},
	{name: "server as root", patch: withPod(`securityContext: {runAsUser: 0}`),
		want: []string{"spec.target.securityContext", "must not run as root with podSecurity Restricted: set Baseline"}},
	{name: "server as whoever", patch: withPod(`securityContext: {runAsNonRoot: false}`),
		want: []string{"spec.target.securityContext", "must not run as root with podSecurity Restricted: set Baseline"}},
	{name: "backend that escalates", patch: withBackends(`{name: a, securityContext: {allowPrivilegeEscalation: true}, ` + generic + `}`),
		want: []string{"spec.target.backends", "privileges must not grow with podSecurity Restricted: set Baseline"}},
	{name: "backend as root", patch: withBackends(`{name: a, securityContext: {runAsUser: 0}, ` + generic + `}`),
		want: []string{"spec.target.backends", "must not run as root with Restricted"}},
	{name: "backend as whoever", patch: withBackends(`{name: a, securityContext: {runAsNonRoot: false}, ` + generic + `}`),
		want: []string{"spec.target.backends", "must not run as root with Restricted"}},
	{name: "pod with every system call", patch: `spec: {target: {podSecurity: Baseline, securityContext: {seccompProfile: {type: Unconfined}}}}`,
		want: []string{"spec.target.securityContext.seccompProfile.type", `"RuntimeDefault", "Localhost"`}},
	{name: "empty list of items", patch: withPod(`volumes: [{name: a, secret: {secretName: a, items: []}}]`), rawOnly: true,
		want: []string{"spec.target.volumes[0].secret.items", "at least 1 item"}},
	{name: "variable that begins with a digit", patch: withPod(`env: [{name: 1A, value: x}]`),
		want: []string{"spec.target.env[0].name", "letters, digits and '_'", "not begin with a digit"}},
	{name: "variable without a value", patch: withPod(`env: [{name: A}]`),
		want: []string{"spec.target.env[0]", "exactly one of the fields in [value secretKeyRef configMapKeyRef fieldRef]"}},
	{name: "variable twice", patch: withPod(`env: [{name: A, value: a}, {name: A, value: b}]`),
		want: []string{"spec.target.env[1]", "Duplicate value"}},
	{name: "mount of a volume that isn't there", patch: withPod(`volumeMounts: [{name: a, mountPath: /a}]`),
		want: []string{"spec.target.volumeMounts", "must name members of volumes"}},
	{name: "mount of Assay's certificates", patch: withPod(`volumes: [{name: a, emptyDir: {}}], volumeMounts: [{name: tls, mountPath: /a}]`),
		want: []string{"spec.target.volumeMounts", "must name members of volumes"}},
	{name: "backend's mount of a volume that isn't there", patch: withBackends(`{name: a, volumeMounts: [{name: a, mountPath: /a}], ` + generic + `}`),
		want: []string{"spec.target.backends", "volumeMounts must name members of target.volumes"}},
	{name: "variable of no field", patch: withPod(`env: [{name: A, fieldRef: {fieldPath: spec.containers}}]`),
		want: []string{"spec.target.env[0].fieldRef.fieldPath", `"status.podIP"`}},
	{name: "mount without a path", patch: withPod(`volumeMounts: [{name: a}]`), rawOnly: true,
		want: []string{"spec.target.volumeMounts[0].mountPath", "Required value"}},
	{name: "mount over everything", patch: withPod(`volumes: [{name: a, emptyDir: {}}], volumeMounts: [{name: a, mountPath: /}]`),
		want: []string{"spec.target.volumeMounts[0]", "absolute path such as /etc/server"}},
	{name: "mount twice", patch: withPod(`volumes: [{name: a, emptyDir: {}}], volumeMounts: [{name: a, mountPath: /a}, {name: a, mountPath: /a}]`),
		want: []string{"spec.target.volumeMounts[1]", "Duplicate value"}},
	{name: "mount of an empty part", patch: withPod(`volumes: [{name: a, emptyDir: {}}], volumeMounts: [{name: a, mountPath: /a, subPath: ""}]`), rawOnly: true,
		want: []string{"spec.target.volumeMounts[0].subPath", "must be a relative path"}},
	{name: "no capabilities", patch: withPod(`securityContext: {capabilities: {drop: []}}`), rawOnly: true,
		want: []string{"spec.target.securityContext", "spec.target.securityContext.capabilities.drop in bod"}},
}

func TestBadPodsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range podRefusals {
		t.Run(r.name, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
	for _, name := range []string{"server", "agent", "content"} {
		r := refusal{patch: withBackends(`{name: ` + name + `, ` + generic + `}`),
			want: []string{"spec.target.backends[0].name", "not be server, agent or content"}}
		t.Run("backend "+name, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
}

// forwardRefusals are lists of what is forwarded, where the one backend is app.
var forwardRefusals = []refusal{
	{name: "nothing", patch: ``, want: []string{"", "at least 1 item"}, rawOnly: true},
	{name: "too much", patch: list(17, `{pathPrefix: /a%d, backend: app}`), want: []string{"", "at most 16 items"}},
	{name: "nowhere", patch: `{pathPrefix: /a}`, want: []string{"[0].backend", "Required value"}},
	{name: "to a backend that isn't there", patch: `{pathPrefix: /a, backend: api}`, want: []string{"", "must name members of target.backends"}},
	{name: "by an unknown protocol", patch: `{pathPrefix: /a, backend: app, protocol: FCGI}`, want: []string{"[0].protocol", `"HTTP", "AJP"`}},
	{name: "every path", patch: `{backend: app}`, want: []string{"[0]", "exactly one of the fields in [pathSuffix pathPrefix]"}},
	{name: "by both ends", patch: `{pathPrefix: /a, pathSuffix: .b, backend: app}`, want: []string{"[0]", "exactly one of the fields in [pathSuffix pathPrefix]"}},
	{name: "the same prefix twice", patch: `{pathPrefix: /a, backend: app}, {pathPrefix: /a, backend: app}`, want: []string{"", "the same path twice"}},
	{name: "the same suffix twice", patch: `{pathSuffix: .a, backend: app}, {pathPrefix: /a, backend: app}, {pathSuffix: .a, backend: app}`, want: []string{"", "the same path twice"}},
	{name: "suffix without a dot", patch: `{pathSuffix: jsp, backend: app}`, want: []string{"[0].pathSuffix", "such as .jsp"}},
	{name: "suffix that is a pattern", patch: `{pathSuffix: ".js.*", backend: app}`, want: []string{"[0].pathSuffix", "such as .jsp"}},
	{name: "prefix without a slash", patch: `{pathPrefix: app, backend: app}`, want: []string{"[0].pathPrefix", "such as /app"}},
	{name: "prefix with an empty segment", patch: `{pathPrefix: //, backend: app}`, want: []string{"[0].pathPrefix", "such as /app"}},
	{name: "prefix that climbs", patch: `{pathPrefix: /../a, backend: app}`, want: []string{"[0].pathPrefix", "such as /app"}},
}

func TestBadForwardsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, server := range []string{"httpd", "nginx"} {
		for _, r := range forwardRefusals {
			r.want = append([]string{"spec.target.server." + server + ".forward" + r.want[0]}, r.want[1:]...)
			r.patch = `spec: {target: {server: {tomcat: null, ` + server + `: {forward: [` + r.patch + `]}}, backends: [{name: app, ` + generic + `}]}}`
			t.Run(server+": "+r.name, func(t *testing.T) { r.check(t, minimal, namespace) })
		}
		r := refusal{patch: `spec: {target: {server: {tomcat: null, ` + server + `: {forward: [{pathPrefix: /a, backend: a}]}}}}`,
			want: []string{"spec.target.server." + server + ".forward", "must name members of target.backends"}}
		t.Run(server+": without backends", func(t *testing.T) { r.check(t, minimal, namespace) })
		why := map[string][]string{"httpd": {"spec.target", "AJP forward needs tomcat.ajp"}, "nginx": {"spec.target.server.nginx.forward", "nginx doesn't speak AJP"}}[server]
		for _, backend := range []string{generic, `image: a, server: {tomcat: {connector: {port: 9000}}}`} {
			r := refusal{patch: `spec: {target: {server: {tomcat: null, ` + server + `: {forward: [{pathPrefix: /a, backend: app, protocol: AJP}]}}, backends: [{name: app, ` + backend + `}]}}`,
				want: why}
			t.Run(server+": by AJP to one without", func(t *testing.T) { r.check(t, minimal, namespace) })
		}
	}
}
