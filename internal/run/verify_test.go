package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/start"
	"github.com/assay-dev/assay/internal/server"
)

// serverLog returns the log of a real server.
func serverLog(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "server", "tomcat", "testdata", "logs", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestVerificationFailsARunThatIsNotAsDeclared(t *testing.T) {
	apr10, nio9 := serverLog(t, "tomcat-10.1-apr-refused"), serverLog(t, "tomcat-9.0-nio")
	crash := corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
	tests := map[string]struct {
		scene  *scene
		reason string
		says   []string
	}{
		"another connector": {
			newScene().tomcat(v1alpha1.TomcatNIO2).ready().logged(map[string]string{server.ContainerName: nio9}),
			v1alpha1.ReasonTargetMismatch, []string{"spec.target.server.tomcat.connector.protocol is NIO2", "http-nio-8080"},
		},
		"a connector that isn't there": {
			newScene().tomcat(v1alpha1.TomcatAPR).ready().logged(map[string]string{server.ContainerName: apr10}),
			v1alpha1.ReasonTargetUnsupported, []string{"connector.protocol is APR", "Apache Tomcat/10.1", "NIO or NIO2"},
		},
		"the same, and it crashed": {
			newScene().tomcat(v1alpha1.TomcatAPR).ended(server.ContainerName, crash).logged(map[string]string{server.ContainerName: apr10}),
			v1alpha1.ReasonTargetUnsupported, []string{"Apache Tomcat/10.1"},
		},
		"the same, and it never answered": {
			func() *scene {
				s := newScene().tomcat(v1alpha1.TomcatAPR).logged(map[string]string{server.ContainerName: apr10})
				s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(5))
				return s
			}(), v1alpha1.ReasonTargetUnsupported, []string{"Apache Tomcat/10.1"},
		},
		"a backend": {
			newScene().tomcat(v1alpha1.TomcatNIO).withBackend().ready().
				logged(map[string]string{server.ContainerName: nio9, "app": nio9}),
			v1alpha1.ReasonTargetMismatch, []string{"spec.target.backends[app].server.tomcat.connector.port is 8081", "http-nio-8080"},
		},
		"a backend can't, and the server is another": {
			func() *scene {
				s := newScene().tomcat(v1alpha1.TomcatNIO2).withBackend().ready().logged(map[string]string{server.ContainerName: nio9, "app": apr10})
				s.run.Spec.Target.Backends[0].Server.Tomcat.Connector.Protocol = v1alpha1.TomcatAPR
				return s
			}(), v1alpha1.ReasonTargetUnsupported, []string{"spec.target.backends[app]"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := stateIn(test.scene.decide())
			if got.Reason != test.reason || got.Status != metav1.ConditionFalse {
				t.Errorf("%s: %s; want %s", got.Reason, got.Message, test.reason)
			}
			for _, text := range test.says {
				if !strings.Contains(got.Message, text) {
					t.Errorf("the message is %q, without %q", got.Message, text)
				}
			}
			if test.reason == v1alpha1.ReasonTargetUnsupported && strings.Contains(got.Message, "NIO2, but") {
				t.Errorf("in addition to what is unsupported it names what differs: %s", got.Message)
			}
		})
	}
}

func TestVerificationByTheHandshake(t *testing.T) {
	tls := func() *v1alpha1.TLS {
		return &v1alpha1.TLS{
			Protocols: []v1alpha1.TLSProtocol{"TLSv1.2"}, Ciphers: []v1alpha1.CipherSuite{"ECDHE-RSA-AES128-GCM-SHA256"},
			Certificate:          &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}},
			ClientAuthentication: &v1alpha1.ClientAuthentication{},
		}
	}
	asDeclared := result.Handshake{
		Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES128-GCM-SHA256", KeyAlgorithm: "RSA", KeySize: 2048, CertificateRequested: true,
		Subject: "CN=a", Issuer: "CN=b", Fingerprint: "f", NotAfter: now.UnixMicro(),
	}
	tests := map[string]struct {
		change func(*result.Handshake)
		says   []string
	}{
		"as declared":             {func(*result.Handshake) {}, nil},
		"another protocol":        {func(e *result.Handshake) { e.Protocol, e.Cipher = "TLSv1.3", "TLS_AES_128_GCM_SHA256" }, []string{"spec.target.tls.protocols", "[TLSv1.2]", "TLSv1.3"}},
		"another cipher":          {func(e *result.Handshake) { e.Cipher = "AES128-SHA" }, []string{"spec.target.tls.ciphers", "ECDHE-RSA-AES128-GCM-SHA256", "AES128-SHA"}},
		"another kind of key":     {func(e *result.Handshake) { e.KeyAlgorithm, e.KeySize = "ECDSA", 256 }, []string{"spec.target.tls.certificate.privateKey", "RSA with 2048", "ECDSA with 256"}},
		"a longer key":            {func(e *result.Handshake) { e.KeySize = 4096 }, []string{"RSA with 2048", "RSA with 4096"}},
		"no client's certificate": {func(e *result.Handshake) { e.CertificateRequested = false }, []string{"spec.target.tls.clientAuthentication", "requested no certificate"}},
		"two of them":             {func(e *result.Handshake) { e.KeySize, e.CertificateRequested = 4096, false }, []string{"privateKey", "certificate.privateKey is RSA", "clientAuthentication is set", "clientAuthentication"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene().ready()
			s.run.Spec.Target.TLS = tls()
			e := asDeclared
			test.change(&e)
			s.o.Sessions.Agent.ProbeResult.TLS = &e
			p := s.decide()
			got := stateIn(p)
			if test.says == nil {
				want := &v1alpha1.TLSStatus{
					Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES128-GCM-SHA256", KeyAlgorithm: "RSA", KeySize: new(int32(2048)),
					Subject: "CN=a", Issuer: "CN=b", Fingerprint: "f", NotAfter: new(metav1.NewTime(now)), ClientCertificate: v1alpha1.ClientCertificateRequested,
				}
				if diff := cmp.Diff(want, p.Status.Target.TLS); diff != "" || got.Reason != v1alpha1.ReasonMeasuring {
					t.Errorf("%s: %s; status (-want +got):\n%s", got.Reason, got.Message, diff)
				}
				return
			}
			if got.Reason != v1alpha1.ReasonTargetMismatch {
				t.Errorf("%s: %s", got.Reason, got.Message)
			}
			for _, text := range test.says {
				if !strings.Contains(got.Message, text) {
					t.Errorf("the message is %q, without %q", got.Message, text)
				}
			}
		})
	}
}

func TestVerificationIsRecordedOrGivenUp(t *testing.T) {
	nio9 := serverLog(t, "tomcat-9.0-nio")
	begun, _, _ := strings.Cut(nio9, "Initializing ProtocolHandler")
	backend := strings.ReplaceAll(nio9, "8080", "8081")
	type want struct {
		state              string
		version, connector string
		backend            string
	}
	const nine = "Apache Tomcat/9.0.98"
	reading, measuring := v1alpha1.ReasonStarting, v1alpha1.ReasonMeasuring
	server := server.ContainerName
	tests := map[string]struct {
		scene *scene
		want  want
	}{
		"it says all":                       {newScene().tomcat("").ready().became(time.Second).logged(map[string]string{server: nio9}), want{measuring, nine, "http-nio-8080", ""}},
		"it has said half":                  {newScene().tomcat("").ready().became(time.Second).logged(map[string]string{server: begun}), want{state: reading}},
		"it never says more":                {newScene().tomcat("").ready().became(start.VerificationTimeout + time.Second).logged(map[string]string{server: begun}), want{measuring, nine, "", ""}},
		"it says nothing":                   {newScene().tomcat("").ready().became(time.Second).logged(map[string]string{server: ""}), want{state: reading}},
		"it never says anything":            {newScene().tomcat("").ready().became(start.VerificationTimeout + time.Second).logged(map[string]string{server: ""}), want{state: measuring}},
		"it can't be read":                  {newScene().tomcat("").ready().became(time.Second).logged(map[string]string{}), want{state: reading}},
		"it can't ever be read":             {newScene().tomcat("").ready().became(start.VerificationTimeout + time.Second).logged(map[string]string{}), want{state: measuring}},
		"logs aren't read at all":           {newScene().tomcat("").ready().became(time.Second), want{state: measuring}},
		"nobody knows what it says":         {newScene().ready().became(time.Second).logged(map[string]string{server: "hello"}), want{state: measuring}},
		"the backend hasn't said anything":  {newScene().tomcat("").withBackend().ready().became(time.Second).logged(map[string]string{server: nio9}), want{state: reading}},
		"the backend has":                   {newScene().tomcat("").withBackend().ready().became(time.Second).logged(map[string]string{server: nio9, "app": backend}), want{measuring, nine, "http-nio-8080", nine}},
		"the backend alone says what it is": {newScene().withBackend().ready().became(time.Second).logged(map[string]string{server: "", "app": backend}), want{measuring, "", "", nine}},
		"the backend never says anything":   {newScene().tomcat("").withBackend().ready().became(start.VerificationTimeout + time.Second).logged(map[string]string{server: nio9}), want{measuring, nine, "http-nio-8080", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := test.scene
			for _, b := range s.run.Spec.Target.Backends {
				s.readBackend(b.Name, "2")
			}
			p := s.decide()
			got := want{state: stateIn(p).Reason, version: p.Status.Target.ServerVersion, connector: p.Status.Target.Connector}
			for _, b := range p.Status.Target.Backends {
				got.backend = b.ServerVersion
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", stateIn(p).Message, diff)
			}
			if test.want.state == reading && p.RequeueAfter != start.VerificationInterval {
				t.Errorf("the log is read again after %s", p.RequeueAfter)
			}
		})
	}
}

// TestLogsAreReadWhenTheyDecide checks when logs are read, and of which containers.
func TestLogsAreReadWhenTheyDecide(t *testing.T) {
	verified := func(s *scene) *scene {
		tomcat := v1alpha1.ServerStatus{ServerVersion: "Tomcat"}
		s.run.Status.Target = &v1alpha1.TargetStatus{ServerStatus: tomcat, Backends: []v1alpha1.BackendStatus{{Name: "app", ServerStatus: tomcat}}}
		return s
	}
	inState := func(s *scene, reason string) *scene {
		s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: reason})
		return s
	}
	base := func() *scene { return newScene().tomcat("").withBackend() }
	crash := corev1.ContainerStateTerminated{ExitCode: 1}
	both := []string{server.ContainerName, "app"}
	tests := map[string]struct {
		scene *scene
		want  []string
	}{
		"it starts":                  {base(), nil},
		"it answers":                 {base().ready(), both},
		"it answers and is verified": {verified(base().ready()), nil},
		"its backend isn't verified": {func() *scene {
			s := verified(base().ready())
			s.run.Status.Target.Backends[0].ServerVersion = ""
			return s
		}(), both},
		"it is under load":             {inState(base().ready(), v1alpha1.ReasonMeasuring), nil},
		"it crashes":                   {base().ended(server.ContainerName, crash), both},
		"it crashes under load":        {verified(inState(base().ready().ended(server.ContainerName, crash), v1alpha1.ReasonMeasuring)), both},
		"its backend crashes":          {verified(base().ready().ended("app", crash)), both},
		"its agent crashes":            {base().ended(manifest.AgentContainer, crash), nil},
		"it doesn't answer in time":    {func() *scene { s := base(); s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(5)); return s }(), both},
		"nobody knows what it says":    {newScene().ready(), nil},
		"nobody would, but it crashes": {newScene().ended(server.ContainerName, crash), []string{server.ContainerName}},
		"the cluster added a container": {func() *scene {
			s := base().ready()
			s.o.Target.Spec.Containers = append(s.o.Target.Spec.Containers, corev1.Container{Name: "proxy"})
			return s
		}(), both},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			if observed.NeedsLogs(test.scene.run, test.scene.o, now) {
				for _, container := range manifest.Servers(test.scene.run, test.scene.o.Target) {
					got = append(got, container.Name)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("read %v, want %v", got, test.want)
			}
		})
	}
}

func TestMessagesShowTheEndOfALog(t *testing.T) {
	lines := strings.Repeat("before\n", 50) + "the \x1b[31mlast\n"
	long := strings.Repeat("x", 5000) + "\nend\n"
	tests := map[string]struct {
		scene  *scene
		reason string
		says   []string
		not    string
	}{
		"a crash whose last lines the kubelet kept": {
			newScene().ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 1, Message: "kept"}).logged(map[string]string{server.ContainerName: lines}),
			v1alpha1.ReasonTargetCrashed, []string{"exit code 1: kept"}, "before",
		},
		"a crash of which it kept none": {
			newScene().ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 0}).logged(map[string]string{server.ContainerName: lines}),
			v1alpha1.ReasonTargetCrashed, []string{"The server exited: exit code 0\nThe last lines of its log:\nbefore", "last"}, "\x1b",
		},
		"a log with long lines": {
			newScene().ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 0}).logged(map[string]string{server.ContainerName: long}),
			v1alpha1.ReasonTargetCrashed, []string{"…x", "x\nend"}, strings.Repeat("x", failure.LastBytes+1),
		},
		"killed for memory": {
			newScene().ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}).logged(map[string]string{server.ContainerName: lines}),
			v1alpha1.ReasonTargetCrashed, []string{"OOMKilled", "Increase spec.target.resources.memory", "last"}, "clients",
		},
		"killed for memory, as the runtime didn't learn": {
			newScene().ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"}).logged(map[string]string{server.ContainerName: lines}),
			v1alpha1.ReasonTargetCrashed, []string{"exit code 137. It was killed by SIGKILL", "increase spec.target.resources.memory", "last"}, "OOMKilled",
		},
		"a backend killed for memory": {
			newScene().withBackend().ended("app", corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}).logged(map[string]string{"app": "out", server.ContainerName: "fine"}),
			v1alpha1.ReasonTargetCrashed, []string{"Backend app exited", "Increase spec.target.backends[app].resources.memory", "its log:\nout"}, "fine",
		},
		"not ready": {
			func() *scene {
				s := newScene().logged(map[string]string{server.ContainerName: lines})
				s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(5))
				return s
			}(), v1alpha1.ReasonTargetNotReady, []string{"spec.target.readiness (path, host, headers, port, timeoutSeconds)", "The last lines of its log:\nbefore"}, "\x1b",
		},
		"no log": {
			newScene().ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 3}).logged(map[string]string{}),
			v1alpha1.ReasonTargetCrashed, []string{"exit code 3"}, "last lines",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := stateIn(test.scene.decide())
			if got.Reason != test.reason {
				t.Errorf("%s: %s", got.Reason, got.Message)
			}
			for _, text := range test.says {
				if !strings.Contains(got.Message, text) {
					t.Errorf("the message is %q, without %q", got.Message, text)
				}
			}
			if strings.Contains(got.Message, test.not) {
				t.Errorf("the message is %q, with %q", got.Message, test.not)
			}
			if n := strings.Count(got.Message, "before"); n > failure.LastLines {
				t.Errorf("%d lines of the log are shown", n)
			}
		})
	}
}

func TestVerificationEndsUnderLoad(t *testing.T) {
	s := newScene().tomcat(v1alpha1.TomcatNIO2).started(measurementStage).logged(map[string]string{server.ContainerName: serverLog(t, "tomcat-9.0-nio")}).
		ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 1})
	s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonMeasuring,
	})
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonTargetCrashed {
		t.Errorf("%s: %s", got.Reason, got.Message)
	}
}
