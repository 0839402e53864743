package manifest

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/session"
)

const (
	scriptVolume = "script"
	workVolume   = "work"
)

// workLimit limits what a client writes for k6: certificates and a configuration.
var workLimit = resource.MustParse("16Mi")

func mountScript(run *v1alpha1.BenchmarkRun, files []ScriptFile, spec *corev1.PodSpec, container *corev1.Container) {
	if run.Spec.Script == nil {
		return
	}
	source := &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: ConfigName(run)}}
	for _, f := range files {
		source.Items = append(source.Items, corev1.KeyToPath{Key: f.Key, Path: f.Path})
	}
	mount(spec, container, projected(scriptVolume, corev1.VolumeProjection{ConfigMap: source}), session.ScriptDirectory)
	spec.Volumes = append(spec.Volumes, corev1.Volume{
		Name: workVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(workLimit)}},
	})
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: workVolume, MountPath: session.WorkDirectory})
	container.Args = append(container.Args, "--script")
	container.Env = append(container.Env, scriptEnvironment(run.Spec.Script)...)
}

// scriptEnvironment returns the variables that a script and k6's outputs read.
func scriptEnvironment(s *v1alpha1.Script) []corev1.EnvVar {
	env := environment(s.Env)
	if s.Outputs == nil {
		return env
	}
	if p := s.Outputs.PrometheusRemoteWrite; p != nil {
		env = append(env, literal("K6_PROMETHEUS_RW_SERVER_URL", p.URL),
			literal("K6_PROMETHEUS_RW_TREND_STATS", strings.Join(p.TrendStatistics, ",")))
		env = append(env, remoteWriteCredentials(p.Authentication)...)
	}
	if t := s.Outputs.OpenTelemetry; t != nil {
		env = append(env, telemetry(t)...)
	}
	return env
}

func environment(variables []v1alpha1.EnvironmentVariable) []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, v := range variables {
		switch {
		case v.SecretKeyRef != nil:
			env = append(env, fromSecret(v.Name, v.SecretKeyRef.Name, v.SecretKeyRef.Key))
		case v.ConfigMapKeyRef != nil:
			env = append(env, corev1.EnvVar{Name: v.Name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMapKeyRef.Name}, Key: v.ConfigMapKeyRef.Key,
			}}})
		case v.FieldRef != nil:
			env = append(env, corev1.EnvVar{Name: v.Name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: v.FieldRef.FieldPath}}})
		default:
			env = append(env, literal(v.Name, ptr.Deref(v.Value, "")))
		}
	}
	return env
}

func remoteWriteCredentials(a *v1alpha1.OutputAuthentication) []corev1.EnvVar {
	switch {
	case a == nil:
		return nil
	case a.Scheme == v1alpha1.AuthenticationBearer:
		return []corev1.EnvVar{fromSecret(loadplan.VariableRemoteWriteToken, a.SecretName, "token")}
	}
	return []corev1.EnvVar{
		fromSecret(loadplan.VariableRemoteWriteUser, a.SecretName, corev1.BasicAuthUsernameKey),
		fromSecret(loadplan.VariableRemoteWritePassword, a.SecretName, corev1.BasicAuthPasswordKey),
	}
}

func telemetry(t *v1alpha1.OpenTelemetry) []corev1.EnvVar {
	kind, protocol := "HTTP", "http/protobuf"
	if t.Protocol == v1alpha1.TelemetryGRPC {
		kind, protocol = "GRPC", "grpc"
	}
	env := []corev1.EnvVar{
		literal("K6_OTEL_EXPORTER_PROTOCOL", protocol),
		literal("K6_OTEL_"+kind+"_EXPORTER_ENDPOINT", t.Endpoint),
		literal("K6_OTEL_"+kind+"_EXPORTER_INSECURE", strconv.FormatBool(t.Encryption == v1alpha1.TelemetryClear)),
	}
	if ref := t.HeadersSecretRef; ref != nil {
		env = append(env, fromSecret(loadplan.VariableTelemetryHeaders, ref.Name, ref.Key))
	}
	return env
}

// literal returns a variable whose value the kubelet doesn't expand.
func literal(name, value string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, Value: adapter.Literal(value)}
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}
