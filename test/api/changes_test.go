package api

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// A change is one to the spec of an existing run. Field is its path below spec.
type change struct{ field, patch string }

// named returns the path of the object whose field changes, and the field, which the message about the change names: of the amounts
// of resources, the path alone.
func (c *change) named() (path, name string) {
	steps := strings.Split(c.field, ".")
	switch {
	case len(steps) == 1:
		return "spec", strings.TrimRight(c.field, "[]0123456789")
	case steps[1] == "resources":
		return "spec." + steps[0] + ".resources", ""
	}
	return "spec." + steps[0], strings.TrimRight(steps[1], "[]0123456789")
}

// refusedChanges hold at least one change of every field of the spec, and of
// every field of the target and of resources.
var refusedChanges = []change{
	{field: "target.image", patch: `{target: {image: other}}`},
	{field: "target.imagePullPolicy", patch: `{target: {imagePullPolicy: Always}}`},
	{field: "imagePullSecrets", patch: `{target: {imagePullSecrets: [{name: other}]}}`},
	{field: "imagePullSecrets", patch: `{target: {imagePullSecrets: null}}`},
	{field: "target.resources.cpu", patch: `{target: {resources: {cpu: 2}}}`},
	{field: "target.resources.memory", patch: `{target: {resources: {memory: 2Gi}}}`},
	{field: "target.resources.memory", patch: `{target: {resources: {memory: null}}}`},
	{field: "target.resources.cpuPinning", patch: `{target: {resources: {cpuPinning: Required}}}`},
	{field: "target.resources", patch: `{target: {resources: {cpu: 1001m}}}`},
	{field: "target.server", patch: `{target: {server: {tomcat: null, generic: {}}}}`},
	{field: "target.server", patch: `{target: {server: {tomcat: {connector: {maxThreads: 201}}}}}`},
	{field: "target.server", patch: `{target: {server: {tomcat: {jvmOptions: null}}}}`},
	{field: "target.content", patch: `{target: {content: [{path: /js/bootstrap.min.js, sizeBytes: 31820}]}}`},
	{field: "target.content", patch: `{target: {content: null}}`},
	{field: "target.readiness", patch: `{target: {readiness: {timeoutSeconds: 121}}}`},
	{field: "target.readiness", patch: `{target: {readiness: {path: null}}}`},
	{field: "target.podSecurity", patch: `{target: {podSecurity: Baseline}}`},
	{field: "clients.replicas", patch: `{clients: {replicas: 3}}`},
	{field: "clients.resources", patch: `{clients: {resources: {cpu: 301m}}}`},
	{field: "clients.resources", patch: `{clients: {resources: null}}`},
	{field: "clients.placement", patch: `{clients: {placement: Apart}}`},
	{field: "clients.image", patch: `{clients: {image: a}}`},
	{field: "clients.tool", patch: `{clients: {tool: {name: AB, image: a}}}`},
	{field: "load", patch: `{load: {requests: [{path: /}]}}`},
	{field: "load", patch: `{load: {client: {keepAlive: Disabled}}}`},
	{field: "load", patch: `{load: {client: {timeoutSeconds: 3}}}`},
	{field: "load", patch: `{load: {closed: {connections: 26}}}`},
	{field: "load", patch: `{load: {closed: {requestCount: null, durationSeconds: 10}}}`},
	{field: "load", patch: `{load: {warmup: null}}`},
	{field: "load", patch: `{load: {warmup: {requestCount: 20001}}}`},
	{field: "script", patch: `{load: null, script: {configMapName: a}}`},
	{field: "thresholds", patch: `{thresholds: null}`},
	{field: "thresholds", patch: `{thresholds: [{metric: LatencyP99, below: 51ms}]}`},
	{field: "acceptedFindings", patch: `{acceptedFindings: null}`},
	{field: "acceptedFindings", patch: `{acceptedFindings: [NoWarmup]}`},
	{field: "lane", patch: `{lane: other}`},
	{field: "lane", patch: `{lane: null}`},
	{field: "activeDeadlineSeconds", patch: `{activeDeadlineSeconds: 601}`},
	{field: "activeDeadlineSeconds", patch: `{activeDeadlineSeconds: null}`},
	{field: "podRetention", patch: `{podRetention: Always}`},
}

// refusedAdditions add to a run what it was created without.
var refusedAdditions = []change{
	{field: "alternation", patch: `{alternation: {block: a, variants: 2, variant: 0}}`},
	{field: "load", patch: `{load: {warmup: {requestCount: 20000}}}`},
	{field: "thresholds", patch: `{thresholds: [{metric: LatencyP99, below: 50ms}]}`},
	{field: "acceptedFindings", patch: `{acceptedFindings: [NoWarmup]}`},
	{field: "target.content", patch: `{target: {content: [{path: /a, sizeBytes: 1}]}}`},
	{field: "imagePullSecrets", patch: `{target: {imagePullSecrets: [{name: a}]}}`},
	{field: "target.readiness.path", patch: `{target: {readiness: {path: /a}}}`},
	{field: "target.server", patch: `{target: {server: {tomcat: {connector: {maxThreads: 1}}}}}`},
	{field: "target.tls", patch: `{target: {tls: {certificate: {selfSigned: {}}}}}`},
	{field: "target.backends", patch: `{target: {backends: [{name: a, image: a, server: {generic: {}}}]}}`},
	{field: "clients.topologySpreadConstraints", patch: `{clients: {topologySpreadConstraints: [{topologyKey: a}]}}`},
	{field: "target.sharedCPU", patch: `{target: {sharedCPU: 1, backends: [{name: a, image: a, server: {generic: {}}}]}}`},
}

// withOnePod is a run with settings of its pods and a backend.
const withOnePod = `
spec:
  target:
    backends: [{name: app, image: a, server: {generic: {port: 9000}}}]
    volumes: [{name: a, persistentVolumeClaim: {claimName: a}}, {name: b, emptyDir: {}}]
    volumeMounts: [{name: a, mountPath: /a}]
`

// refusedPodChanges are changes of withOnePod: patches replace whole lists.
var refusedPodChanges = []change{
	{field: "labels", patch: `{target: {labels: {a: b}}}`},
	{field: "annotations", patch: `{target: {annotations: {a: b}}}`},
	{field: "env", patch: `{target: {env: [{name: A, value: b}]}}`},
	{field: "nodeSelector", patch: `{target: {nodeSelector: {a: b}}}`},
	{field: "affinity", patch: `{target: {affinity: {}}}`},
	{field: "tolerations", patch: `{target: {tolerations: [{key: a}]}}`},
	{field: "priorityClassName", patch: `{target: {priorityClassName: a}}`},
	{field: "runtimeClassName", patch: `{target: {runtimeClassName: a}}`},
	{field: "imagePullSecrets", patch: `{target: {imagePullSecrets: [{name: a}]}}`},
	{field: "hostAliases", patch: `{target: {hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]}}`},
	{field: "dnsConfig", patch: `{target: {dnsConfig: {searches: [a]}}}`},
	{field: "securityContext", patch: `{target: {securityContext: {fsGroup: 1}}}`},
	{field: "labels", patch: `{clients: {labels: {a: b}}}`},
	{field: "annotations", patch: `{clients: {annotations: {a: b}}}`},
	{field: "env", patch: `{clients: {env: [{name: A, value: b}]}}`},
	{field: "volumes", patch: `{clients: {volumes: [{name: a, emptyDir: {}}]}}`},
	{field: "nodeSelector", patch: `{clients: {nodeSelector: {a: b}}}`},
	{field: "affinity", patch: `{clients: {affinity: {}}}`},
	{field: "tolerations", patch: `{clients: {tolerations: [{key: a}]}}`},
	{field: "priorityClassName", patch: `{clients: {priorityClassName: a}}`},
	{field: "runtimeClassName", patch: `{clients: {runtimeClassName: a}}`},
	{field: "imagePullSecrets", patch: `{clients: {imagePullSecrets: [{name: a}]}}`},
	{field: "hostAliases", patch: `{clients: {hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]}}`},
	{field: "dnsConfig", patch: `{clients: {dnsConfig: {searches: [a]}}}`},
	{field: "securityContext", patch: `{clients: {securityContext: {fsGroup: 1}}}`},
	{field: "volumes", patch: `{target: {volumes: [{name: a, persistentVolumeClaim: {claimName: a}}]}}`},
	{field: "volumes", patch: `{target: {volumes: [{name: a, persistentVolumeClaim: {claimName: a}}, {name: b, emptyDir: {}}, {name: c, emptyDir: {}}]}}`},
	{field: "volumes", patch: `{target: {volumes: [{name: a, persistentVolumeClaim: {claimName: a, readOnly: true}}, {name: b, emptyDir: {}}]}}`},
	{field: "volumes", patch: `{target: {volumes: [{name: a, persistentVolumeClaim: {claimName: a}}, {name: b, emptyDir: {medium: Memory}}]}}`},
	{field: "volumes", patch: `{target: {volumes: [{name: a, persistentVolumeClaim: {claimName: a}}, {name: b, secret: {secretName: b}}]}}`},
	{field: "volumeMounts", patch: `{target: {volumeMounts: null}}`},
	{field: "volumeMounts", patch: mounts(`{name: a, mountPath: /a}, {name: a, mountPath: /b}`)},
	{field: "volumeMounts", patch: mounts(`{name: a, mountPath: /b}`)},
	{field: "volumeMounts", patch: mounts(`{name: b, mountPath: /a}`)},
	{field: "volumeMounts", patch: mounts(`{name: a, mountPath: /a, readOnly: true}`)},
	{field: "volumeMounts", patch: mounts(`{name: a, mountPath: /a, subPath: a}`)},
	{field: "target.backends[0]", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9000}}, env: [{name: A, value: b}]}]}}`},
	{field: "target.backends[0]", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9000}}, volumeMounts: [{name: b, mountPath: /b}]}]}}`},
	{field: "target.backends[0]", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9000}}, securityContext: {runAsUser: 1}}]}}`},
	{field: "target.backends", patch: `{target: {backends: null}}`},
	{field: "target.backends", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9000}}}, {name: b, image: a, server: {generic: {port: 9001}}}]}}`},
	{field: "target.backends", patch: `{target: {backends: [{name: b, image: a, server: {generic: {port: 9000}}}]}}`},
	{field: "target.backends[0]", patch: `{target: {backends: [{name: app, image: b, server: {generic: {port: 9000}}}]}}`},
	{field: "target.backends[0]", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9001}}}]}}`},
	{field: "target.backends[0]", patch: `{target: {backends: [{name: app, image: a, server: {tomcat: {connector: {port: 9000}}}}]}}`},
	{field: "target.backends[0].resources.cpu", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9000}}, resources: {cpu: 1001m, memory: 1Gi}}]}}`},
	{field: "target.backends[0].resources.memory", patch: `{target: {backends: [{name: app, image: a, server: {generic: {port: 9000}}, resources: {cpu: 1}}]}}`},
	{field: "target.tls", patch: `{target: {tls: {certificate: {selfSigned: {}}}}}`},
}

func mounts(items string) string { return `{target: {volumeMounts: [` + items + `]}}` }

// unchanged say the same as withOnePod in other words.
var unchanged = []change{
	{field: "volumes", patch: `{target: {volumes: [{name: b, emptyDir: {}}, {name: a, persistentVolumeClaim: {claimName: a}}]}}`},
}

// allowedChanges are made one after the other.
var allowedChanges = []change{
	{field: "suspend", patch: `{suspend: true}`},
	{field: "suspend", patch: `{suspend: false}`},
	{field: "suspend", patch: `{suspend: null}`},
	{field: "ttlSecondsAfterFinished", patch: `{ttlSecondsAfterFinished: 0}`},
	{field: "ttlSecondsAfterFinished", patch: `{ttlSecondsAfterFinished: null}`},
	{field: "ttlSecondsAfterFinished", patch: `{ttlSecondsAfterFinished: 60}`},
	{field: "target.resources", patch: `{target: {resources: {cpu: 1000m, memory: 1024Mi}}}`},
	{field: "clients.resources", patch: `{clients: {resources: {cpu: "0.3", memory: 268435456}}}`},
}

// ownLane gives base a lane other than the default, and a finding to accept, so that taking them away is a
// change.
const ownLane = `spec: {lane: rack-a, acceptedFindings: [TooShort]}`

func TestRunsAreImmutable(t *testing.T) {
	namespace := newNamespace(t)
	tryChanges(t, createRun(t, namespace, base, ownLane), refusedChanges)
	tryChanges(t, createRun(t, namespace, minimal, `{}`), refusedAdditions)
	tryChanges(t, createRun(t, newNamespace(t), minimal, withOnePod), refusedPodChanges)
}

func TestWhatOfARunMayChange(t *testing.T) {
	for _, c := range []struct {
		document, patch string
		changes         []change
	}{
		{base, `{}`, allowedChanges},
		{minimal, withOnePod, unchanged},
	} {
		run := createRun(t, newNamespace(t), c.document, c.patch)
		for _, c := range c.changes {
			if err := patchSpec(t, run, c.patch); err != nil {
				t.Errorf("%s: %v", c.patch, err)
			}
		}
	}
}

// TestEveryFieldHasAChange keeps the tables complete when fields are added.
func TestEveryFieldHasAChange(t *testing.T) {
	paths := fieldPaths(reflect.TypeFor[v1alpha1.BenchmarkRunSpec](), "")
	paths = append(paths, fieldPaths(reflect.TypeFor[v1alpha1.Target](), "target.")...)
	paths = append(paths, fieldPaths(reflect.TypeFor[v1alpha1.Clients](), "clients.")...)
	paths = append(paths, fieldPaths(reflect.TypeFor[v1alpha1.Resources](), "target.resources.")...)
	changes := slices.Concat(refusedChanges, refusedAdditions, allowedChanges)
	for _, path := range paths {
		if !slices.ContainsFunc(changes, func(c change) bool {
			return c.field == path || strings.HasPrefix(c.field, path+".")
		}) {
			t.Errorf("no change of %s is tried", path)
		}
	}
}

func fieldPaths(structure reflect.Type, prefix string) []string {
	var paths []string
	for field := range structure.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" { // the rules of a server
			continue
		}
		paths = append(paths, prefix+name)
	}
	return paths
}

func createRun(t *testing.T, namespace, document, patch string) client.Object {
	t.Helper()
	object := parse(t, document, patch)
	object.SetNamespace(namespace)
	if err := apiClient.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func tryChanges(t *testing.T, run client.Object, changes []change) {
	t.Helper()
	for _, c := range changes {
		t.Run(c.patch, func(t *testing.T) {
			err := patchSpec(t, run, c.patch)
			if err == nil {
				t.Fatal("the API server took it")
			}
			path, name := c.named()
			if slices.Contains(fieldPaths(reflect.TypeFor[v1alpha1.PodSettings](), ""), c.field) { // of target and of clients
				path = ""
			}
			for _, part := range []string{path, name, "must not change: create a new run"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the message lacks %q:\n%s", part, err)
				}
			}
		})
	}
}

func patchSpec(t *testing.T, run client.Object, patch string) error {
	t.Helper()
	object := run.DeepCopyObject().(client.Object)
	return apiClient.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, toJSON(t, "spec: "+patch)))
}
