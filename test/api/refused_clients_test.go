package api

import "testing"

// withClientPod gives minimal's clients a pod.
func withClientPod(fields string) string { return `spec: {clients: {pod: {` + fields + `}}}` }

// placedExternally makes minimal's target external, and places its clients.
func placedExternally(placement string) string {
	return `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://a"}}}, clients: {placement: ` + placement + `}}`
}

var clientRefusals = []refusal{
	{name: "unknown placement of clients", patch: `spec: {clients: {placement: Anywhere}}`,
		want: []string{"spec.clients.placement", `"Apart", "Prefer", "Together"`}},
	{name: "clients apart from an external server", patch: placedExternally("Apart"),
		want: []string{"spec.clients.placement", "must not be Apart or Together with an external server"}},
	{name: "clients together with an external server", patch: placedExternally("Together"),
		want: []string{"spec.clients.placement", "must not be Apart or Together with an external server"}},
	{name: "empty pod of clients", patch: withClientPod(``),
		want: []string{"spec.clients.pod", "at least 1 properties"}},
	{name: "too many labels of clients' nodes", patch: withClientPod(`nodeSelector: {` + list(33, `a%d: b`) + `}`),
		want: []string{"spec.clients.pod.nodeSelector", "at most 32 items"}},
	{name: "clients' toleration of an unknown effect", patch: withClientPod(`tolerations: [{effect: NoRun}]`),
		want: []string{"spec.clients.pod.tolerations[0]", "NoSchedule, PreferNoSchedule or NoExecute"}},
	{name: "clients spread over nothing", patch: withClientPod(`topologySpreadConstraints: [{maxSkew: 1}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].topologyKey", "Required value"}},
	{name: "clients spread over what is no label", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a b}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].topologyKey", "name of a label"}},
	{name: "clients spread twice over the same", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a}, {topologyKey: a}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[1]", "Duplicate value"}},
	{name: "clients spread by no skew", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a, maxSkew: 0}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].maxSkew", "greater than or equal to 1"}},
	{name: "clients spread somehow", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: Never}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].whenUnsatisfiable", `"ScheduleAnyway", "DoNotSchedule"`}},
	{name: "an affinity of clients", patch: withClientPod(`affinity: {}`), rawOnly: true,
		want: []string{"unknown field", "spec.clients.pod.affinity"}},
}

func TestBadClientsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range clientRefusals {
		t.Run(r.name, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
}
