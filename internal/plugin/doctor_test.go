package plugin_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const (
	crdPath         = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
	deploymentsPath = "/apis/apps/v1/deployments"
	leasePath       = "/apis/coordination.k8s.io/v1/namespaces/assay-system/leases/a-manager"
	slicesPath      = "/apis/discovery.k8s.io/v1/namespaces/assay-system/endpointslices"
	nodesPath       = "/api/v1/nodes"
	metricsPath     = "/apis/metrics.k8s.io/v1beta1/nodes"
	namespacePath   = "/api/v1/namespaces/default"
	podsPath        = namespacePath + "/pods"
	jobsPath        = "/apis/batch/v1/namespaces/default/jobs"
)

// namespace returns one with a label, as NAME=VALUE.
func namespace(label string) *corev1.Namespace {
	key, value, _ := strings.Cut(label, "=")
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{key: value}}}
}

// quota returns one that has a hard limit of a resource, and scopes.
func quota(name corev1.ResourceName, hard, used string, scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuotaList {
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.ResourceQuotaSpec{Scopes: scopes}}
	q.Status.Hard = corev1.ResourceList{name: resource.MustParse(hard)}
	q.Status.Used = corev1.ResourceList{name: resource.MustParse(used)}
	return &corev1.ResourceQuotaList{Items: []corev1.ResourceQuota{q}}
}

func limitRange(of corev1.LimitRangeItem) *corev1.LimitRangeList {
	of.Type = corev1.LimitTypeContainer
	l := corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "bounds"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{of}}}
	return &corev1.LimitRangeList{Items: []corev1.LimitRange{l}}
}

func cpu(amount string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
}

func crd(version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/version": version}}}
}

func deployment(ready int32, arguments ...string) *appsv1.DeploymentList {
	d := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "assay-system"}, Status: appsv1.DeploymentStatus{ReadyReplicas: ready}}
	d.Spec.Replicas = ptr.To(int32(2))
	d.Spec.Template.Spec.Containers = []corev1.Container{{Args: append([]string{
		"--leader-elect", "--leader-elect-lease-name=a-manager", "--session-address=a-session.$(POD_NAMESPACE).svc:9443", "--load-image=x",
	}, arguments...)}}
	other := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "other"}}
	return &appsv1.DeploymentList{Items: []appsv1.Deployment{other, d}}
}

func ofVersion(version string) *appsv1.DeploymentList {
	list := deployment(2)
	list.Items[1].Labels = map[string]string{"app.kubernetes.io/version": version}
	return list
}

func lease(age time.Duration) *coordinationv1.Lease {
	renewed := metav1.NewMicroTime(time.Now().Add(-age))
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("a-1"), RenewTime: &renewed, LeaseDurationSeconds: ptr.To(int32(3600))}}
}

func slice(addresses ...string) *discoveryv1.EndpointSliceList {
	return &discoveryv1.EndpointSliceList{Items: []discoveryv1.EndpointSlice{{Endpoints: []discoveryv1.Endpoint{{Addresses: addresses}}}}}
}

func nodes(names ...string) *corev1.NodeList {
	list := &corev1.NodeList{}
	for _, name := range names {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		list.Items = append(list.Items, n)
	}
	tainted := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "control-plane"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	tainted.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
	list.Items = append(list.Items, tainted)
	return list
}

func configz(policy string) any {
	return map[string]any{"kubeletconfig": map[string]any{"cpuManagerPolicy": policy}}
}

func usage(cpu string) any {
	return map[string]any{"items": []any{map[string]any{"metadata": map[string]any{"name": "one"}, "usage": map[string]any{"cpu": cpu}}}}
}

func forbidden() *apierrors.StatusError {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", nil)
}

// healthyCluster returns a server of a cluster to which no check objects.
func healthyCluster(t *testing.T) *apiServer {
	t.Helper()
	server := startAPIServer(t)
	for path, object := range map[string]any{
		crdPath + "benchmarkruns.assay.dev": crd("1.2.3"), crdPath + "benchmarks.assay.dev": crd("v1.2.3"), deploymentsPath: deployment(2),
		leasePath: lease(0), slicesPath: slice("10.0.0.1", "10.0.0.2"), "/apis/cert-manager.io": map[string]any{"name": "cert-manager.io"},
		nodesPath: nodes("one", "two"), nodesPath + "/one/proxy/configz": configz("static"), nodesPath + "/two/proxy/configz": configz("static"),
		metricsPath: usage("700m"), namespacePath: namespace(""), namespacePath + "/resourcequotas": &corev1.ResourceQuotaList{},
		namespacePath + "/limitranges": &corev1.LimitRangeList{}, namespacePath + "/serviceaccounts/default": &corev1.ServiceAccount{},
	} {
		server.Answer(path, object)
	}
	return server
}

func TestDoctorOfAHealthyCluster(t *testing.T) {
	c := start(t, healthyCluster(t), "doctor")
	c.wantEnd(t, exit.Success, "ok      CRD benchmarkruns: It is of this plugin's version, 1.2.3.\n", "ok      leader: a-1 leads.\n",
		"ok      session service: Service assay-system/a-session has 2 endpoints.", "ok      nodes: 2 nodes", "ok      CPU manager of two: ")
	if wrong := regexp.MustCompile(`(?m)^(warn|fail|unknown) .*`).FindAllString(c.out.String(), -1); wrong != nil {
		t.Errorf("%q", wrong)
	}
	start(t, healthyCluster(t), "doctor", "-o", "xml").wantEnd(t, exit.Unknown, "unknown output format")
}

// TestDoctorFindings changes the healthy cluster in one place each.
func TestDoctorFindings(t *testing.T) {
	queued := run(metav1.ConditionUnknown, v1alpha1.ReasonQueued, "2 runs are ahead.\x1b[2J")
	queued.Spec.Lane = "default"
	unseen := run(metav1.ConditionUnknown, "", "")
	unseen.Status.Conditions = nil
	for name, test := range map[string]struct {
		path   string
		answer any
		run    *v1alpha1.BenchmarkRun
		want   string
		code   int
	}{
		"no CRD":             {crdPath + "benchmarks.assay.dev", nil, nil, "fail    CRD benchmarks: ", exit.Failed},
		"older CRD":          {crdPath + "benchmarks.assay.dev", crd("1.2.2"), nil, "warn    CRD benchmarks: It is of version 1.2.2, this plugin is of version 1.2.3.", 0},
		"CRD without label":  {crdPath + "benchmarks.assay.dev", crd(""), nil, "unknown CRD benchmarks: ", 0},
		"CRDs not readable":  {crdPath + "benchmarks.assay.dev", forbidden(), nil, "unknown CRD benchmarks: You may not read", 0},
		"not installed":      {deploymentsPath, &appsv1.DeploymentList{}, nil, "fail    operator: No Deployment", exit.Failed},
		"not readable":       {deploymentsPath, forbidden(), nil, "unknown operator: You may not read Deployments", 0},
		"not ready":          {deploymentsPath, deployment(0), nil, "fail    operator: Deployment assay-system/a has no ready pod.", exit.Failed},
		"an older manager":   {deploymentsPath, ofVersion("1.2.2"), nil, "warn    operator: Deployment assay-system/a is of version 1.2.2, this plugin is of version 1.2.3.", 0},
		"a manager as new":   {deploymentsPath, ofVersion("v1.2.3"), nil, "ok      operator: ", 0},
		"partly ready":       {deploymentsPath, deployment(1), nil, "warn    operator: ", 0},
		"of another place":   {deploymentsPath, deployment(2, "--watch-namespaces=shop,default2"), nil, "fail    operator: Deployment assay-system/a doesn't serve the namespace default.", exit.Failed},
		"of this place":      {deploymentsPath, deployment(2, "--watch-namespaces=shop,default"), nil, "ok      operator: ", 0},
		"no lease":           {leasePath, nil, nil, "fail    leader: No manager has been elected.", exit.Failed},
		"no leader":          {leasePath, &coordinationv1.Lease{}, nil, "fail    leader: No manager leads.", exit.Failed},
		"dead leader":        {leasePath, lease(2 * time.Hour), nil, "fail    leader: a-1 led, but didn't renew its Lease of 1h0m0s for 2h", exit.Failed},
		"lease not readable": {leasePath, forbidden(), nil, "unknown leader: ", 0},
		"no endpoints":       {slicesPath, slice(), nil, "fail    session service: ", exit.Failed},
		"no cert-manager":    {"/apis/cert-manager.io", nil, nil, "ok      cert-manager: It isn't installed. ", 0},
		"no nodes":           {nodesPath, nodes(), nil, "fail    nodes: ", exit.Failed},
		"one node":           {nodesPath, nodes("one"), nil, "warn    nodes: One node", 0},
		"nodes not readable": {nodesPath, forbidden(), nil, "unknown nodes: ", 0},
		"shared CPUs":        {nodesPath + "/two/proxy/configz", configz("none"), nil, `warn    CPU manager of two: Its policy is "none"`, 0},
		"kubelet forbidden":  {nodesPath + "/two/proxy/configz", forbidden(), nil, "right to get nodes/proxy, which allows much else", 0},
		"busy node":          {metricsPath, usage("1"), nil, "warn    load of the nodes: one uses 25% of its CPUs.", 0},
		"no metrics":         {metricsPath, nil, nil, "unknown load of the nodes: The cluster has no metrics API.", 0},
		"a run waits":        {metricsPath, usage("0"), queued, "warn    queue: 1 runs of namespace default wait for their lane, a queue in which one runs at a time. tomcat (lane default): 2 runs are ahead.[2J\n", 0},
		"an unseen run":      {metricsPath, usage("0"), unseen, "warn    queue: Run tomcat hasn't been seen by an operator.", 0},
		"no namespace":       {namespacePath, nil, nil, "fail    injection: The namespace default doesn't exist.", exit.Failed},
		"a mesh":             {namespacePath, namespace("istio-injection=enabled"), nil, "warn    injection: The namespace has istio-injection=enabled", 0},
		"a mesh's revision":  {namespacePath, namespace("istio.io/rev=canary"), nil, "warn    injection: ", 0},
		"no mesh":            {namespacePath, namespace("istio-injection=disabled"), nil, "ok      injection: ", 0},
		"a small quota":      {namespacePath + "/resourcequotas", quota("requests.cpu", "4", "2500m"), nil, "fail    quota: ResourceQuota default/small has no room for a run of one client: requests.cpu: 1500m of 4 is free, a run needs 2050m.", exit.Failed},
		"a large quota":      {namespacePath + "/resourcequotas", quota("requests.cpu", "4", "1"), nil, "ok      quota: ", 0},
		"a quota of pods":    {namespacePath + "/resourcequotas", quota("pods", "5", "4"), nil, "pods: 1 of 5 is free, a run needs 2.", exit.Failed},
		"a quota of others":  {namespacePath + "/resourcequotas", quota("pods", "1", "1", corev1.ResourceQuotaScopeBestEffort), nil, "ok      quota: ", 0},
		"a least CPU":        {namespacePath + "/limitranges", limitRange(corev1.LimitRangeItem{Min: cpu("200m")}), nil, "fail    limit range: LimitRange default/bounds refuses the container agent of the target: cpu is 50m, must be at least 200m.", exit.Failed},
		"a largest CPU":      {namespacePath + "/limitranges", limitRange(corev1.LimitRangeItem{Max: cpu("500m")}), nil, "the container client of the client: cpu is 1, must be at most 500m.", exit.Failed},
		"no right to create": {podsPath, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(`User "u" cannot create resource "pods" in API group ""`)), nil, "unknown admission of a target: You may not create pods in namespace default", 0},
		"a suspended Job":    {jobsPath, &batchv1.Job{Spec: batchv1.JobSpec{Suspend: ptr.To(true)}}, nil, "warn    admission of the clients' Job: ", 0},
		"no pull secret":     {namespacePath + "/serviceaccounts/default", &corev1.ServiceAccount{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "regcred"}}}, nil, "fail    pull secrets: Secret default/regcred doesn't exist, which the service account default names.", exit.Failed},
		"a run measures":     {metricsPath, usage("0"), measuring(10), "ok      queue: ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := healthyCluster(t)
			server.Answer(test.path, test.answer)
			if test.run != nil {
				server.SetRun(test.run)
			}
			start(t, server, "doctor").wantEnd(t, test.code, test.want)
		})
	}
	// Another's Deployment with the label and the arguments of the operator, first in the list.
	released := func() *metav1.PartialObjectMetadata {
		c := crd("1.2.3")
		c.Annotations = map[string]string{"meta.helm.sh/release-namespace": "assay-system"}
		return c
	}
	impostor := func(arguments ...string) *appsv1.DeploymentList {
		d := deployment(2, arguments...)
		d.Items[1].Namespace = "tenant"
		return d
	}
	both := impostor()
	both.Items = append(both.Items, deployment(2).Items[1])
	for name, test := range map[string]struct {
		answer *appsv1.DeploymentList
		want   string
		code   int
	}{
		"beside the operator": {both, "ok      operator: Deployment assay-system/a has 2 ready pods.", 0},
		"alone":               {impostor(), "warn    operator: Deployment tenant/a says by its label and arguments that it is the operator. The CRDs are of a release in namespace assay-system.", exit.Failed},
		"a path as a name":    {impostor("--leader-elect-lease-name=../../../../../api/v1/namespaces/x/secrets/y"), "fail    operator: No Deployment", exit.Failed},
		"a path as a host":    {impostor("--session-address=a/b.c:1"), "fail    operator: No Deployment", exit.Failed},
		"a selector as one":   {impostor("--session-address=a,x=y.c:1"), "fail    operator: No Deployment", exit.Failed},
	} {
		t.Run("impostor "+name, func(t *testing.T) {
			server := healthyCluster(t)
			server.Answer(crdPath+"benchmarkruns.assay.dev", released())
			server.Answer(deploymentsPath, test.answer)
			start(t, server, "doctor").wantEnd(t, test.code, test.want)
		})
	}
	two := healthyCluster(t)
	two.Answer(crdPath+"benchmarkruns.assay.dev", released())
	two.Answer(deploymentsPath, both)
	held := lease(0)
	held.Spec.HolderIdentity = ptr.To("assay-system/a-manager")
	two.Answer("/apis/coordination.k8s.io/v1/namespaces/default/leases/assay-all-namespaces", held)
	start(t, two, "doctor").wantEnd(t, exit.Success, "warn    managers: The Deployments tenant/a and assay-system/a are to serve namespace default. assay-system/a-manager does, and the others stay out")
	start(t, healthyCluster(t), "doctor", "--namespace", "../x").wantEnd(t, exit.Unknown, `"../x" is not the name of a namespace`)
	issued := healthyCluster(t)
	issued.Answer(deploymentsPath, deployment(2, "--session-certificate-source=Secret"))
	issued.Answer("/apis/cert-manager.io", nil)
	start(t, issued, "doctor").wantEnd(t, exit.Failed, "fail    cert-manager: ")
}

func TestDoctorJSON(t *testing.T) {
	server := healthyCluster(t)
	server.Answer(leasePath, nil)
	c := start(t, server, "doctor", "-o", "json")
	c.wantEnd(t, exit.Failed)
	var got struct {
		Checks []struct{ Name, Status, Message, Remedy string }
	}
	if err := json.Unmarshal([]byte(c.out.String()), &got); err != nil || len(got.Checks) != 19 {
		t.Fatalf("%v: %s", err, c.out)
	}
	for _, check := range got.Checks {
		if (check.Name == "leader") != (check.Status == "fail") || check.Message == "" || check.Status == "fail" && !strings.Contains(check.Remedy, "logs") {
			t.Errorf("%+v", check)
		}
	}
}

func TestDoctorWithoutAPIServer(t *testing.T) {
	server := startAPIServer(t)
	server.Down()
	start(t, server, "doctor").wantEnd(t, exit.Unknown, "cannot reach the API server")
	server.Up()
	server.Reject(apierrors.NewGenericServerResponse(http.StatusUnauthorized, "get", schema.GroupResource{}, "", "", 0, true))
	start(t, server, "doctor").wantEnd(t, exit.Success, "unknown CRD benchmarkruns: You may not read")
}
