package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/plugin/check"
)

// probe holds the objects of a run like the sample generic, as the operator would create them in the namespace.
type probe struct {
	target *corev1.Pod
	job    *batchv1.Job
	client *corev1.Pod
}

// newProbe returns the objects of the sample. They have no owner: it would have to exist.
func newProbe(namespace string, settings *manifest.Settings) (*probe, error) {
	run, rendering, err := check.Sample(namespace)
	if err != nil {
		return nil, err
	}
	p := &probe{}
	if p.job, err = manifest.ClientJob(run, "", nil, settings); err != nil {
		return nil, err
	}
	if p.target, err = manifest.TargetPod(run, rendering, settings); err != nil {
		return nil, err
	}
	p.client = &corev1.Pod{ObjectMeta: p.job.Spec.Template.ObjectMeta, Spec: p.job.Spec.Template.Spec}
	p.client.Namespace, p.client.Name = namespace, p.job.Name
	p.client.Labels = maps.Clone(p.client.Labels)
	for _, object := range []manifest.Object{p.target, p.job, p.client} {
		settings.RunPods.Label(object, run.Labels)
	}
	p.target.OwnerReferences, p.job.OwnerReferences, p.client.OwnerReferences = nil, nil, nil
	p.target.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	p.client.TypeMeta = p.target.TypeMeta
	p.job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	return p, nil
}

// pods returns the pods that a run has at a time, and what they are.
func (p *probe) pods() map[string]*corev1.Pod {
	return map[string]*corev1.Pod{"target": p.target, "client": p.client}
}

// inNamespace checks what a namespace does to the objects of a run.
func (e *examination) inNamespace(ctx context.Context) []Check {
	var settings manifest.Settings
	settings.AssayImage, settings.LoadImage, settings.K6Image, settings.SessionAddress = "assay", "assay-load", "assay-k6", "assay-session.assay-system.svc:9443"
	if e.operator != nil {
		e.operator.fill(&settings)
	}
	p, err := newProbe(e.namespace, &settings)
	if err != nil {
		return []Check{{"pods", Unknown, "A sample run can't be built: " + err.Error(), ""}}
	}
	checks := append([]Check{e.injection(ctx)}, e.quotas(ctx, p)...)
	checks = append(checks, e.limits(ctx, p)...)
	for _, role := range []string{"target", "client"} {
		checks = append(checks, e.admission(ctx, role, p.pods()[role]))
	}
	return append(checks, e.jobAdmission(ctx, p.job), e.pullSecrets(ctx))
}

// injectors are the labels and annotations of a namespace by which meshes add containers to its pods, and what exempts a pod.
var injectors = []struct{ key, value, exempt string }{
	{"istio-injection", "enabled", `the label sidecar.istio.io/inject: "false"`},
	{"istio.io/rev", "", `the label sidecar.istio.io/inject: "false"`},
	{"linkerd.io/inject", "enabled", "the annotation linkerd.io/inject: disabled"},
	{"kuma.io/sidecar-injection", "enabled", "the label kuma.io/sidecar-injection: disabled"},
}

// injection checks whether the namespace asks a mesh to add containers to its pods.
func (e *examination) injection(ctx context.Context) Check {
	const name = "injection"
	var namespace corev1.Namespace
	if err := e.get(ctx, "/api/v1/namespaces/"+e.namespace, "", &namespace); err != nil {
		if absent(err) {
			return Check{name, Fail, "The namespace " + e.namespace + " doesn't exist.", "Create it: kubectl create namespace " + e.namespace + "."}
		}
		return unreadable(name, "the namespace "+e.namespace, "get namespaces", err)
	}
	for _, i := range injectors {
		for _, has := range []map[string]string{namespace.Labels, namespace.Annotations} {
			if value, is := has[i.key]; is && (i.value == "" || value == i.value) {
				return Check{name, Warn, fmt.Sprintf("The namespace has %s=%s: a mesh adds a proxy to each pod, which is measured with the server.", i.key, value),
					"Give pods of runs " + i.exempt + ", or use another namespace."}
			}
		}
	}
	return Check{name, OK, "The namespace asks no mesh for proxies in its pods.", ""}
}

// quotas checks whether the pods of a run fit into the quotas of the namespace together.
func (e *examination) quotas(ctx context.Context, p *probe) []Check {
	const name = "quota"
	var list corev1.ResourceQuotaList
	if err := e.get(ctx, "/api/v1/namespaces/"+e.namespace+"/resourcequotas", "", &list); err != nil {
		return []Check{unreadable(name, "ResourceQuotas", "list resourcequotas in namespace "+e.namespace, err)}
	}
	needed := corev1.ResourceList{"count/jobs.batch": *resource.NewQuantity(1, resource.DecimalSI), "configmaps": *resource.NewQuantity(2, resource.DecimalSI)}
	needed["count/configmaps"] = needed["configmaps"]
	for _, pod := range p.pods() {
		addUsage(needed, pod)
	}
	checks := []Check{}
	for i := range list.Items {
		q := &list.Items[i]
		if !applies(q) {
			continue
		}
		var short []string
		for _, key := range slices.Sorted(maps.Keys(q.Status.Hard)) {
			need, counted := needed[key]
			hard, used := q.Status.Hard[key], q.Status.Used[key]
			if free := hard.DeepCopy(); counted {
				if free.Sub(used); free.Cmp(need) < 0 {
					short = append(short, fmt.Sprintf("%s: %s of %s is free, a run needs %s", key, free.String(), hard.String(), need.String()))
				}
			}
		}
		if len(short) > 0 {
			checks = append(checks, Check{name, Fail, fmt.Sprintf("ResourceQuota %s/%s has no room for a run of one client: %s.", e.namespace, q.Name, strings.Join(short, "; ")),
				"Ask whoever administers the namespace for a larger quota, set less in target.resources and clients.resources, or wait until other pods end."})
		}
	}
	if len(checks) == 0 {
		return []Check{{name, OK, fmt.Sprintf("A target and a client fit into the %d ResourceQuotas of namespace %s.", len(list.Items), e.namespace), ""}}
	}
	return checks
}

// addUsage adds what a pod takes from a quota. Init containers of a run need no more than the others.
func addUsage(all corev1.ResourceList, pod *corev1.Pod) {
	add := func(key corev1.ResourceName, amount resource.Quantity) {
		sum := all[key]
		sum.Add(amount)
		all[key] = sum
	}
	for _, key := range []corev1.ResourceName{corev1.ResourcePods, "count/pods"} {
		add(key, *resource.NewQuantity(1, resource.DecimalSI))
	}
	for i := range pod.Spec.Containers {
		for name, amount := range pod.Spec.Containers[i].Resources.Requests {
			add(name, amount) // a bare name is that of requests
			add("requests."+name, amount)
		}
		for name, amount := range pod.Spec.Containers[i].Resources.Limits {
			add("limits."+name, amount)
		}
	}
}

// applies reports whether a quota counts pods of runs, which have a deadline and resources. Quotas of priority classes are
// left to the API server.
func applies(q *corev1.ResourceQuota) bool {
	return q.Spec.ScopeSelector == nil && !slices.ContainsFunc(q.Spec.Scopes, func(scope corev1.ResourceQuotaScope) bool {
		return scope != corev1.ResourceQuotaScopeTerminating && scope != corev1.ResourceQuotaScopeNotBestEffort
	})
}

// limits checks whether the containers of a run are within the LimitRanges of the namespace.
func (e *examination) limits(ctx context.Context, p *probe) []Check {
	const name = "limit range"
	var list corev1.LimitRangeList
	if err := e.get(ctx, "/api/v1/namespaces/"+e.namespace+"/limitranges", "", &list); err != nil {
		return []Check{unreadable(name, "LimitRanges", "list limitranges in namespace "+e.namespace, err)}
	}
	checks := []Check{}
	for i := range list.Items {
		for _, of := range list.Items[i].Spec.Limits {
			if of.Type != corev1.LimitTypeContainer {
				continue
			}
			for _, role := range []string{"target", "client"} {
				for _, container := range p.pods()[role].Spec.Containers {
					if outside := outside(&of, container.Resources.Requests); outside != "" {
						checks = append(checks, Check{name, Fail, fmt.Sprintf("LimitRange %s/%s refuses the container %s of the %s: %s.", e.namespace, list.Items[i].Name, container.Name, role, outside),
							remedy(container.Name)})
					}
				}
			}
		}
	}
	if len(checks) == 0 {
		return []Check{{name, OK, fmt.Sprintf("The containers of a run are within the %d LimitRanges of namespace %s.", len(list.Items), e.namespace), ""}}
	}
	return checks
}

func outside(limits *corev1.LimitRangeItem, of corev1.ResourceList) string {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		amount := of[name]
		if least, is := limits.Min[name]; is && amount.Cmp(least) < 0 {
			return fmt.Sprintf("%s is %s, must be at least %s", name, amount.String(), least.String())
		}
		if most, is := limits.Max[name]; is && amount.Cmp(most) > 0 {
			return fmt.Sprintf("%s is %s, must be at most %s", name, amount.String(), most.String())
		}
	}
	return ""
}

// remedy says who sets the resources of a container.
func remedy(container string) string {
	if container == manifest.AgentContainer {
		return "Set the chart's value runs.agentResources, or ask whoever administers the namespace to change the LimitRange."
	}
	return "Set target.resources and clients.resources of the run, or ask whoever administers the namespace to change the LimitRange."
}

// create lets the API server judge an object, without creating it, and reads what it would store.
func (e *examination) create(ctx context.Context, path string, object, into any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return read(ctx, e.client.Post().AbsPath(path).Param("dryRun", metav1.DryRunAll).SetHeader("Content-Type", "application/json").Body(body), into)
}

// admission checks whether the API server takes a pod of a run, and what it makes of it.
func (e *examination) admission(ctx context.Context, role string, pod *corev1.Pod) Check {
	name := "admission of a " + role
	var created corev1.Pod
	if err := e.create(ctx, "/api/v1/namespaces/"+e.namespace+"/pods", pod, &created); err != nil {
		return e.refused(name, "pods", err)
	}
	if changes := changed(pod, &created); len(changes) > 0 {
		return Check{name, Warn, fmt.Sprintf("Something in the cluster changes the pod of a %s: %s.", role, strings.Join(changes, "; ")),
			"A container that is added runs beside what is measured, and other resources change the pod's class. Exempt the pods of runs, by their label " +
				manifest.LabelManagedBy + "=assay, or use another namespace."}
	}
	return Check{name, OK, "The API server takes the pod of a " + role + ", and changes nothing that matters.", ""}
}

// refused returns the check of an object that the API server didn't take.
func (e *examination) refused(name, plural string, err error) Check {
	if apierrors.IsUnauthorized(err) || strings.Contains(err.Error(), "cannot create resource") {
		return Check{name, Unknown, fmt.Sprintf("You may not create %s in namespace %s, so that it can't be tried.", plural, e.namespace), "Ask an administrator to run this command."}
	}
	if absent(err) {
		return Check{name, Unknown, "It can't be tried: " + err.Error(), ""}
	}
	return Check{name, Fail, "The API server refuses it: " + err.Error(), "The message names the policy, webhook, quota or limit: change the run accordingly, or ask whoever administers it to exempt runs."}
}

// changed returns what was changed of a pod that matters to a measurement.
func changed(asked, created *corev1.Pod) (all []string) {
	for _, kind := range []struct {
		name    string
		of, got []corev1.Container
	}{{"container", asked.Spec.Containers, created.Spec.Containers}, {"init container", asked.Spec.InitContainers, created.Spec.InitContainers}} {
		for _, c := range kind.got {
			i := slices.IndexFunc(kind.of, func(own corev1.Container) bool { return own.Name == c.Name })
			switch {
			case i < 0:
				all = append(all, fmt.Sprintf("the %s %s of image %s is added", kind.name, c.Name, c.Image))
			case !equality.Semantic.DeepEqual(kind.of[i].Resources.Requests, c.Resources.Requests),
				!equality.Semantic.DeepEqual(kind.of[i].Resources.Limits, c.Resources.Limits):
				all = append(all, fmt.Sprintf("the resources of the %s %s are changed", kind.name, c.Name))
			case kind.of[i].Image != c.Image:
				all = append(all, fmt.Sprintf("the image of the %s %s is changed to %s", kind.name, c.Name, c.Image))
			}
		}
	}
	for key, value := range created.Labels {
		if asked.Labels[key] != value {
			all = append(all, fmt.Sprintf("the label %s=%s is set", key, value))
		}
	}
	for _, field := range []struct{ name, of, got string }{
		{"runtimeClassName", ptr.Deref(asked.Spec.RuntimeClassName, ""), ptr.Deref(created.Spec.RuntimeClassName, "")},
		{"priorityClassName", asked.Spec.PriorityClassName, created.Spec.PriorityClassName},
	} {
		if field.of != field.got {
			all = append(all, fmt.Sprintf("%s is set to %s", field.name, field.got))
		}
	}
	slices.Sort(all)
	return all
}

// jobAdmission checks whether the API server takes the Job of the clients, and whether something suspends it.
func (e *examination) jobAdmission(ctx context.Context, job *batchv1.Job) Check {
	const name = "admission of the clients' Job"
	var created batchv1.Job
	switch err := e.create(ctx, "/apis/batch/v1/namespaces/"+e.namespace+"/jobs", job, &created); {
	case err != nil:
		return e.refused(name, "jobs", err)
	case created.Spec.Suspend != nil && *created.Spec.Suspend:
		return Check{name, Warn, "Something in the cluster suspends the Job, as Kueue does: the target waits until it is resumed.",
			"Give runs what the queue asks for, such as the label kueue.x-k8s.io/queue-name, or use a namespace that it doesn't manage."}
	}
	return Check{name, OK, "The API server takes the Job.", ""}
}

// pullSecrets checks whether the pull secrets exist that the namespace's runs and its service account name.
func (e *examination) pullSecrets(ctx context.Context) Check {
	const name = "pull secrets"
	named := map[string]string{}
	var account corev1.ServiceAccount
	if err := e.get(ctx, "/api/v1/namespaces/"+e.namespace+"/serviceaccounts/"+manifest.ServiceAccount, "", &account); err == nil {
		for _, secret := range account.ImagePullSecrets {
			named[secret.Name] = "the service account " + manifest.ServiceAccount
		}
	}
	var runs v1alpha1.BenchmarkRunList
	if err := e.get(ctx, "/apis/assay.dev/v1alpha1/namespaces/"+e.namespace+"/benchmarkruns", "", &runs); err == nil {
		for i := range runs.Items {
			for _, secret := range runs.Items[i].Spec.Target.ImagePullSecrets {
				named[secret.Name] = "run " + runs.Items[i].Name
			}
		}
	}
	for _, secret := range slices.Sorted(maps.Keys(named)) {
		var meta metav1.PartialObjectMetadata
		switch err := e.getMetadata(ctx, "/api/v1/namespaces/"+e.namespace+"/secrets/"+secret, &meta); {
		case absent(err):
			return Check{name, Fail, fmt.Sprintf("Secret %s/%s doesn't exist, which %s names.", e.namespace, secret, named[secret]),
				fmt.Sprintf("Create it: kubectl -n %s create secret docker-registry %s --docker-server=…", e.namespace, secret)}
		case err != nil:
			return unreadable(name, "the metadata of Secrets", "get secrets in namespace "+e.namespace, err)
		}
	}
	return Check{name, OK, fmt.Sprintf("The %d pull secrets that the namespace's runs and its service account name exist.", len(named)), ""}
}
