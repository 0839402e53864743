package manifest

import (
	"cmp"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
)

// CredentialsVolume is the clients' volume with the credentials of load.authentication.
const CredentialsVolume = "credentials"

// ClientJob returns the Job that starts each client once. targetNode is the name of the target's node, or
// empty for an external target. script lists the files of the load's k6 script. An error describes a mistake in the spec.
func ClientJob(run *v1alpha1.BenchmarkRun, targetNode string, script []ScriptFile, settings *Settings) (*batchv1.Job, error) {
	replicas := int32(loadplan.Replicas(&run.Spec))
	resources := storedLocally(requirements(run.Spec.Clients.Resources, defaultClientMemory), logStorage, clientStorage)
	meta := podMeta(run, "", RoleClient)
	alternate(run, run.Spec.Clients.Resources, &resources)
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels},
		Spec:       podSpec(true),
	}
	image, program := settings.LoadImage, clientProgram
	if runsK6(run) {
		image, program = cmp.Or(run.Spec.Clients.Image, settings.K6Image), k6Program
	}
	client := assayContainer(ClientContainer, image, settings, resources, program, "client")
	client.Env = []corev1.EnvVar{
		{Name: "ASSAY_MANAGER", Value: settings.SessionAddress},
		{Name: "ASSAY_CPU_LIMIT_MILLIS", Value: strconv.FormatInt(resources.Limits.Cpu().MilliValue(), 10)},
		{Name: "ASSAY_MEMORY_LIMIT_BYTES", Value: strconv.FormatInt(resources.Limits.Memory().Value(), 10)},
	}
	if run.Spec.Clients.Image != "" { // perhaps a build of k6, whose commands of Assay are those of an extension
		client.Args = append([]string{"x", "assay"}, client.Args...)
		client.Env = append(client.Env, literal("K6_AUTO_EXTENSION_RESOLUTION", "false"), literal("K6_NO_USAGE_REPORT", "true"))
	}
	leaveCPUs(run, &client)
	mount(&template.Spec, &client, identity(run), identityFolder)
	mountClientTLS(run, &template.Spec, &client)
	mountCredentials(run, &template.Spec, &client)
	mountScript(run, script, &template.Spec, &client)
	useTool(run, settings, &template.Spec, &client)
	template.Annotations = settings.RunPods.prepare(template.Annotations, &template.Spec)
	if err := putOn("spec.clients", &run.Spec.Clients.PodSettings, &template.ObjectMeta, &template.Spec, &client); err != nil {
		return nil, err
	}
	placeClients(run, targetNode, &template.Spec)
	template.Spec.Containers = []corev1.Container{client}
	limitScratch(&template.Spec, 0, clientStorage)
	if err := checkPodSecurity("spec.clients", v1alpha1.PodSecurityRestricted, &template.ObjectMeta, &template.Spec); err != nil {
		return nil, err
	}
	noteWritten(&template.ObjectMeta, &template.Spec)
	job := objectMeta(run, ClientsName(run))
	if queue := run.Labels[LabelQueue]; queue != "" {
		job.Labels[LabelQueue] = queue
	}
	return &batchv1.Job{
		ObjectMeta: job,
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			Completions:          ptr.To(replicas),
			Parallelism:          ptr.To(replicas),
			BackoffLimit:         ptr.To(int32(0)),
			PodReplacementPolicy: ptr.To(batchv1.Failed),

			ActiveDeadlineSeconds: ptr.To(podDeadline(run)),
			Template:              template,
		},
	}, nil
}

// runsK6 reports whether the clients run k6: a script, or a declared load.
func runsK6(run *v1alpha1.BenchmarkRun) bool {
	tool := run.Spec.Clients.Tool
	return run.Spec.Script != nil || tool != nil && tool.Name == v1alpha1.ToolK6
}

func mountCredentials(run *v1alpha1.BenchmarkRun, spec *corev1.PodSpec, container *corev1.Container) {
	a := run.Spec.Load.Authentication
	if a == nil {
		return
	}
	keys := map[string]string{}
	for _, key := range session.CredentialKeys(string(a.Scheme)) {
		keys[key] = key
	}
	mount(spec, container, projected(CredentialsVolume, secretFiles(a.SecretName, keys)), session.CredentialsDirectory)
}
