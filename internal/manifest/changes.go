package manifest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationWritten of a run's pod has what the manager wrote into it, so that what the cluster has changed is seen.
	AnnotationWritten = "assay.dev/written"
	// AnnotationChanges has what it has changed. Only pods in the manager's cache have it, which holds no whole pods.
	AnnotationChanges = "assay.dev/changes"
	// ambientAnnotation is set on a pod whose traffic a mesh without sidecars redirects.
	ambientAnnotation = "ambient.istio.io/redirection"

	// maxWritten limits what is read of AnnotationWritten in bytes, maxChanges all changes of a pod, and maxChange each text of one.
	maxWritten = 64 << 10
	maxChanges = 2 << 10
	maxChange  = 256
)

// Effect is what a change of a pod has to do with the measurement.
type Effect string

const (
	// NoEffect is that of a change that is only recorded.
	NoEffect Effect = ""
	// AddsContainer is that of a container that may run during the measurement, or through which requests pass.
	AddsContainer Effect = "Container"
	// ChangesResources is that of other resources, or another QoS class, than the run declares.
	ChangesResources Effect = "Resources"
	// ChangesProcess is that of a process that runs in another way than the run declares.
	ChangesProcess Effect = "Process"
)

// Change is something that a pod has otherwise than the manager wrote it. Was is empty for something added, Is for something removed.
type Change struct {
	Field  string `json:"field"`
	Was    string `json:"was,omitempty"`
	Is     string `json:"is,omitempty"`
	Effect Effect `json:"effect,omitempty"`
}

// noteWritten annotates a pod with what is written into it. It comes last.
func noteWritten(m *metav1.ObjectMeta, spec *corev1.PodSpec) {
	encoded, err := json.Marshal(describe(spec, qosClass(spec)))
	if err != nil {
		panic(err) // of a map of strings
	}
	m.Annotations = merged(m.Annotations, map[string]string{AnnotationWritten: string(encoded)})
}

// describe returns what decides how the containers of a pod run, by field. What the API server's defaulting and its admission plugins
// set in any pod is not in it, nor what the scheduler and the Job controller set.
func describe(spec *corev1.PodSpec, qos corev1.PodQOSClass) map[string]string {
	all := map[string]string{"qosClass": string(qos)}
	set := func(field, value string) {
		if value != "" {
			all[field] = value
		}
	}
	if spec.RuntimeClassName != nil {
		set("runtimeClassName", *spec.RuntimeClassName)
	}
	set("priorityClassName", spec.PriorityClassName)
	if spec.SchedulerName != corev1.DefaultSchedulerName {
		set("schedulerName", spec.SchedulerName)
	}
	if spec.HostNetwork {
		set("hostNetwork", "true")
	}
	for key, value := range spec.NodeSelector {
		all["nodeSelector["+key+"]"] = value
	}
	for i := range spec.Volumes {
		all["volumes["+spec.Volumes[i].Name+"]"] = "present"
	}
	set("resources", resourcesText(spec.Resources))
	for i := range spec.InitContainers {
		describeContainer(all, "initContainers", &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		describeContainer(all, "containers", &spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		all["ephemeralContainers["+c.Name+"]"] = c.Image
	}
	return all
}

func describeContainer(all map[string]string, list string, c *corev1.Container) {
	field := list + "[" + c.Name + "]"
	all[field] = c.Image
	all[field+".command"] = digest(append(slices.Clone(c.Command), c.Args...))
	if text := resourcesText(&c.Resources); text != "" {
		all[field+".resources"] = text
	}
	if c.RestartPolicy != nil {
		all[field+".restartPolicy"] = string(*c.RestartPolicy)
	}
	for _, e := range c.Env {
		if e.Name == "JOB_COMPLETION_INDEX" { // the Job controller's
			continue
		}
		if from := e.ValueFrom; from != nil && from.FieldRef != nil {
			e = *e.DeepCopy()
			e.ValueFrom.FieldRef.APIVersion = "v1" // the default
		}
		all[field+".env["+e.Name+"]"] = digest(e)
	}
	for i := range c.EnvFrom {
		all[fmt.Sprintf("%s.envFrom[%d]", field, i)] = digest(c.EnvFrom[i])
	}
}

// digest returns a short text that differs for values that do. The values themselves may be secret.
func digest(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // of a part of a pod
	}
	hash := fnv.New64a()
	_, _ = hash.Write(encoded)
	return fmt.Sprintf("%016x", hash.Sum64())
}

// resourcesText returns requests and limits. A limit is also the request that is omitted, as the API server has it.
func resourcesText(r *corev1.ResourceRequirements) string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(merged(r.Requests, r.Limits))) {
		limit, limited := r.Limits[name]
		request, requested := r.Requests[name]
		if !requested {
			request = limit
		}
		text := fmt.Sprintf("%s %s", name, canonical(request))
		switch {
		case !limited:
			text += " without a limit"
		case limit.Cmp(request) != 0:
			text += " to " + canonical(limit)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// canonical returns a quantity in the one form of all that are equal.
func canonical(q resource.Quantity) string {
	if milli := q.MilliValue(); milli%1000 != 0 {
		return resource.NewMilliQuantity(milli, resource.DecimalSI).String()
	}
	return resource.NewQuantity(q.Value(), q.Format).String()
}

// qosClass returns the QoS class of a pod as the API server will set it.
func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	requirements := []*corev1.ResourceRequirements{spec.Resources}
	if spec.Resources == nil {
		requirements = nil
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range list {
				requirements = append(requirements, &list[i].Resources)
			}
		}
	}
	class := corev1.PodQOSGuaranteed
	for _, r := range requirements {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := r.Limits[name]
			if request, requested := r.Requests[name]; !limited || requested && request.Cmp(limit) != 0 {
				class = corev1.PodQOSBurstable
			}
		}
	}
	return class
}

// NoteChanges annotates a pod, of which only a part will be kept, with what the cluster has changed in it. What others say of that
// is dropped.
func NoteChanges(kept, pod *corev1.Pod) {
	changes := changesOf(pod)
	delete(kept.Annotations, AnnotationChanges)
	if len(changes) == 0 {
		return
	}
	encoded, err := json.Marshal(changes)
	if err != nil {
		panic(err) // of texts
	}
	kept.Annotations = merged(kept.Annotations, map[string]string{AnnotationChanges: string(encoded)})
}

// Changes returns what the cluster has changed in a pod, by NoteChanges.
func Changes(pod *corev1.Pod) []Change {
	var changes []Change
	if text := pod.Annotations[AnnotationChanges]; text != "" && json.Unmarshal([]byte(text), &changes) != nil {
		return nil
	}
	return changes
}

// changesOf compares a pod with what the manager wrote.
func changesOf(pod *corev1.Pod) []Change {
	text, written := pod.Annotations[AnnotationWritten], map[string]string{}
	if len(text) > maxWritten || json.Unmarshal([]byte(text), &written) != nil || len(written) == 0 {
		return nil // no pod of a manager's
	}
	qos := pod.Status.QOSClass
	if qos == "" {
		qos = qosClass(&pod.Spec)
	}
	is := describe(&pod.Spec, qos)
	if mode := pod.Annotations[ambientAnnotation]; mode != "" && mode != "disabled" {
		is["metadata.annotations["+ambientAnnotation+"]"] = mode
	}
	var changes []Change
	size := 0
	for _, field := range slices.Sorted(maps.Keys(merged(written, is))) {
		if written[field] == is[field] || isPartOfAnother(field, written, is) {
			continue
		}
		c := Change{Field: clip(field), Was: clip(written[field]), Is: clip(is[field]), Effect: effectOf(field, written, is)}
		if strings.HasSuffix(field, ".command") || strings.Contains(field, ".env[") || strings.Contains(field, ".envFrom[") {
			c.Was, c.Is = presence(written, field), presence(is, field) // not the digests
		}
		if size += len(c.Field) + len(c.Was) + len(c.Is); size > maxChanges {
			break
		}
		changes = append(changes, c)
	}
	return changes
}

// clip returns a copy of a text up to its greatest length.
func clip(text string) string { return strings.Clone(text[:min(len(text), maxChange)]) }

func presence(fields map[string]string, field string) string {
	if _, ok := fields[field]; ok {
		return "present"
	}
	return ""
}

// isPartOfAnother reports whether a field is of a container that was added or removed as a whole. Its resources say what it takes.
func isPartOfAnother(field string, written, is map[string]string) bool {
	container, part, _ := strings.Cut(field, "].")
	_, was := written[container+"]"]
	_, now := is[container+"]"]
	return part != "" && was != now && part != "resources"
}

// processOptions are parts of the names of environment variables that change how a process runs or where its requests go.
var processOptions = []string{"_OPTIONS", "_OPTS", "_PROXY", "LD_PRELOAD", "LD_LIBRARY_PATH"}

func effectOf(field string, written, is map[string]string) Effect {
	container, part, _ := strings.Cut(field, "].")
	_, was := written[container+"]"]
	list, _, inList := strings.Cut(field, "[")
	switch {
	case inList && list == "metadata.annotations":
		return AddsContainer
	case part == "" && inList && strings.HasSuffix(list, "ontainers"):
		if _, had := written[field]; had {
			if _, has := is[field]; has {
				return NoEffect // another image, perhaps from a mirror; the environment has its ID
			}
			return ChangesProcess
		}
		if list == "initContainers" && is[field+".restartPolicy"] == "" {
			return NoEffect // it ends before the others start
		}
		return AddsContainer
	case field == "qosClass" || field == "resources" || part == "resources" && was:
		return ChangesResources
	case field == "runtimeClassName" || part == "command":
		return ChangesProcess
	case strings.HasPrefix(part, "env["):
		if slices.ContainsFunc(processOptions, func(option string) bool { return strings.Contains(strings.ToUpper(part), option) }) {
			return ChangesProcess
		}
	}
	return NoEffect
}
