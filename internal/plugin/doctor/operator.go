package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// operator is an installation of Assay, as its Deployment says.
type operator struct {
	deployment *appsv1.Deployment
	// lease is the name of the Lease of the leader, service that of the Service of sessions.
	lease, service string
	// issued reports whether somebody else, such as cert-manager, issues the session certificate.
	issued bool
	// arguments are those of the manager, by the flag's name.
	arguments map[string]string
}

// fill sets what the manager's arguments say of the pods of runs.
func (o *operator) fill(settings *manifest.Settings) {
	settings.AssayImage, settings.LoadImage = cmp.Or(o.arguments["assay-image"], settings.AssayImage), cmp.Or(o.arguments["load-image"], settings.LoadImage)
	settings.ImagePullPolicy = corev1.PullPolicy(o.arguments["image-pull-policy"])
	if pods, err := manifest.ReadRunPods(o.arguments["run-pods"]); err == nil {
		settings.RunPods = pods
	}
}

// run makes all checks. The error is one that makes all of them impossible.
func (e *examination) run(ctx context.Context) ([]Check, error) {
	var checks []Check
	for _, name := range []string{"benchmarkruns", "benchmarks"} {
		check, err := e.definition(ctx, name)
		if err != nil {
			return nil, err
		}
		checks = append(checks, check)
	}
	checks = append(checks, e.manager(ctx), e.managers(ctx), e.leader(ctx), e.sessions(ctx), e.certManager(ctx), e.nodeCount(ctx))
	checks = append(checks, e.cpuManagers(ctx)...)
	checks = append(checks, e.queue(ctx), e.load(ctx))
	return append(checks, e.inNamespace(ctx)...), nil
}

const install = "Install Assay with Helm: see docs/install.md."

// definition checks one of the kinds. An error is that the API server can't be reached.
func (e *examination) definition(ctx context.Context, plural string) (Check, error) {
	name := "CRD " + plural
	var crd metav1.PartialObjectMetadata
	err := e.get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+plural+".assay.dev", "", &crd)
	var status apierrors.APIStatus
	switch {
	case err == nil:
	case absent(err):
		return Check{name, Fail, "The cluster doesn't have it.", install}, nil
	case errors.As(err, &status):
		return unreadable(name, "CustomResourceDefinitions", "get customresourcedefinitions.apiextensions.k8s.io", err), nil
	default:
		return Check{}, cluster.Explain(err)
	}
	e.home = cmp.Or(e.home, crd.Annotations["meta.helm.sh/release-namespace"])
	installed, own := versionOf(&crd), strings.TrimPrefix(e.version, "v")
	switch {
	case installed == "":
		return Check{name, Unknown, "It has no label app.kubernetes.io/version, which the chart sets.", ""}, nil
	case own == "dev" || own == "development":
		return Check{name, Unknown, "It is of version " + installed + ". This plugin was built without a version.", ""}, nil
	case installed != own:
		return Check{name, Warn, fmt.Sprintf("It is of version %s, this plugin is of version %s. Newer fields are unknown to the older one.", installed, own),
			"Use the plugin of the operator's release, or upgrade the operator."}, nil
	}
	return Check{name, OK, "It is of this plugin's version, " + own + ".", ""}, nil
}

// versionOf returns the version that the chart's label says.
func versionOf(object metav1.Object) string {
	return strings.TrimPrefix(object.GetLabels()["app.kubernetes.io/version"], "v")
}

// manager finds the operator's Deployment and checks that it runs.
func (e *examination) manager(ctx context.Context) Check {
	const name = "operator"
	var list appsv1.DeploymentList
	if err := e.get(ctx, "/apis/apps/v1/deployments", "app.kubernetes.io/component=manager", &list); err != nil {
		return unreadable(name, "Deployments of all namespaces", "list deployments.apps", err)
	}
	var found []*operator
	for i := range list.Items {
		if o := operatorOf(&list.Items[i]); o != nil {
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return Check{name, Fail, "No Deployment of it was found.", install}
	}
	for _, o := range found {
		if o.serves(e.namespace) {
			e.serving = append(e.serving, o.deployment.Namespace+"/"+o.deployment.Name)
		}
	}
	e.operator = slices.MaxFunc(found, func(a, b *operator) int { return cmp.Compare(e.credible(a), e.credible(b)) })
	d := e.operator.deployment
	where := fmt.Sprintf("Deployment %s/%s", d.Namespace, d.Name)
	switch {
	case !e.operator.serves(e.namespace):
		return Check{name, Fail, fmt.Sprintf("%s doesn't serve the namespace %s.", where, e.namespace), "Add the namespace to the chart's value namespaces."}
	case e.home != "" && d.Namespace != e.home:
		return Check{name, Warn, fmt.Sprintf("%s says by its label and arguments that it is the operator. The CRDs are of a release in namespace %s.", where, e.home),
			"Check that an administrator installed it: whoever may create Deployments in a namespace can set both."}
	case d.Status.ReadyReplicas == 0:
		return Check{name, Fail, where + " has no ready pod.", fmt.Sprintf("Look at kubectl -n %s describe pods, and at their logs.", d.Namespace)}
	case d.Status.ReadyReplicas < ptr.Deref(d.Spec.Replicas, 1):
		return Check{name, Warn, fmt.Sprintf("%s has %d of %d pods ready.", where, d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1)), ""}
	}
	if installed, own := versionOf(d), strings.TrimPrefix(e.version, "v"); installed != "" && installed != own && own != "dev" && own != "development" {
		return Check{name, Warn, fmt.Sprintf("%s is of version %s, this plugin is of version %s.", where, installed, own), "Use the plugin of the operator's release, or upgrade the operator."}
	}
	return Check{name, OK, fmt.Sprintf("%s has %d ready pods.", where, d.Status.ReadyReplicas), ""}
}

// managers checks whether several installations are to serve the namespace, and which one does.
func (e *examination) managers(ctx context.Context) Check {
	const name = "managers"
	if len(e.serving) < 2 {
		return Check{name, OK, fmt.Sprintf("No two Deployments of the operator serve namespace %s.", e.namespace), ""}
	}
	holder := "Which one does isn't known."
	for _, path := range []string{"default/leases/assay-all-namespaces", e.namespace + "/leases/assay-namespace"} {
		var lease coordinationv1.Lease
		if e.get(ctx, "/apis/coordination.k8s.io/v1/namespaces/"+path, "", &lease) == nil && ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
			holder = *lease.Spec.HolderIdentity + " does, and the others stay out: it holds the Lease " + strings.Replace(path, "leases/", "", 1) + "."
		}
	}
	return Check{name, Warn, fmt.Sprintf("The Deployments %s are to serve namespace %s. %s", strings.Join(e.serving, " and "), e.namespace, holder),
		"Uninstall one of them, or let them serve different namespaces (the chart's value namespaces)."}
}

// credible orders the Deployments that say of themselves that they are the operator: those that serve the namespace are before others, and among them the
// one of the release that the CRDs belong to. Anybody's Deployment can have the label and the arguments.
func (e *examination) credible(o *operator) (order int) {
	if o.deployment.Namespace == e.home {
		order++
	}
	if o.serves(e.namespace) {
		order += 2
	}
	return order
}

// operatorOf returns the installation that a Deployment is, or nil if it is another program's.
func operatorOf(d *appsv1.Deployment) *operator {
	for _, container := range d.Spec.Template.Spec.Containers {
		arguments := map[string]string{}
		for _, argument := range container.Args {
			key, value, _ := strings.Cut(argument, "=")
			arguments[strings.TrimLeft(key, "-")] = value
		}
		host, _, err := net.SplitHostPort(arguments["session-address"])
		if err != nil || arguments["load-image"] == "" {
			continue
		}
		o := &operator{
			deployment: d, lease: cmp.Or(arguments["leader-elect-lease-name"], "assay-manager"), issued: arguments["session-certificate-source"] == "Secret", arguments: arguments,
		}
		o.service, _, _ = strings.Cut(host, ".")
		if len(validation.NameIsDNSSubdomain(o.lease, false)) > 0 || len(validation.NameIsDNS1035Label(o.service, false)) > 0 {
			continue // they are parts of paths
		}
		return o
	}
	return nil
}

// serves reports whether the operator handles the runs of a namespace.
func (o *operator) serves(namespace string) bool {
	list, limited := o.arguments["watch-namespaces"]
	return !limited || strings.Contains(","+list+",", ","+namespace+",")
}

func (e *examination) leader(ctx context.Context) Check {
	const name = "leader"
	if e.operator == nil {
		return Check{name, Unknown, "It is looked for where the operator is, which wasn't found.", ""}
	}
	namespace := e.operator.deployment.Namespace
	var lease coordinationv1.Lease
	err := e.get(ctx, "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases/"+e.operator.lease, "", &lease)
	logs := fmt.Sprintf("Look at kubectl -n %s logs deployment/%s.", namespace, e.operator.deployment.Name)
	switch {
	case absent(err):
		return Check{name, Fail, "No manager has been elected.", logs}
	case err != nil:
		return unreadable(name, "the Lease of the leader", "get leases.coordination.k8s.io in namespace "+namespace, err)
	case lease.Spec.RenewTime == nil || ptr.Deref(lease.Spec.HolderIdentity, "") == "":
		return Check{name, Fail, "No manager leads.", logs}
	}
	age := e.now().Sub(lease.Spec.RenewTime.Time)
	if limit := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 15)) * time.Second; age > limit {
		return Check{name, Fail, fmt.Sprintf("%s led, but didn't renew its Lease of %s for %s.", *lease.Spec.HolderIdentity, limit, age.Round(time.Second)), logs}
	}
	return Check{name, OK, *lease.Spec.HolderIdentity + " leads.", ""}
}

func (e *examination) sessions(ctx context.Context) Check {
	const name = "session service"
	if e.operator == nil {
		return Check{name, Unknown, "It is looked for where the operator is, which wasn't found.", ""}
	}
	namespace := e.operator.deployment.Namespace
	var list discoveryv1.EndpointSliceList
	if err := e.get(ctx, "/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices", discoveryv1.LabelServiceName+"="+e.operator.service, &list); err != nil {
		return unreadable(name, "EndpointSlices", "list endpointslices.discovery.k8s.io in namespace "+namespace, err)
	}
	addresses := 0
	for i := range list.Items {
		for _, endpoint := range list.Items[i].Endpoints {
			addresses += len(endpoint.Addresses)
		}
	}
	if addresses == 0 {
		return Check{name, Fail, fmt.Sprintf("Service %s/%s has no endpoints: the pods of a run can't reach the manager.", namespace, e.operator.service),
			"Check that the Service exists and that its selector fits the manager's pods."}
	}
	return Check{name, OK, fmt.Sprintf("Service %s/%s has %d endpoints. Whether pods reach them depends on NetworkPolicies, and isn't checked.",
		namespace, e.operator.service, addresses), ""}
}

func (e *examination) certManager(ctx context.Context) Check {
	const name = "cert-manager"
	var group metav1.APIGroup
	err := e.get(ctx, "/apis/cert-manager.io", "", &group)
	switch {
	case absent(err) && e.operator != nil && e.operator.issued:
		return Check{name, Fail, "It isn't installed, but the operator's session certificate is to come from it or another issuer.",
			"Install cert-manager, or disable the chart's sessionCertificate.certManager."}
	case absent(err):
		return Check{name, OK, "It isn't installed. Only runs with an issuerRef need it.", ""}
	case err != nil:
		return unreadable(name, "the API groups", "get the URL /apis/cert-manager.io", err)
	}
	return Check{name, OK, "It is installed.", ""}
}
