{{/* The chart's name, or nameOverride. */}}
{{- define "assay.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The prefix of all names, short enough for the suffixes that follow it. */}}
{{- define "assay.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels that select the manager's pods of this release; immutable. */}}
{{- define "assay.selectorLabels" -}}
app.kubernetes.io/name: {{ include "assay.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "assay.labels" -}}
{{ include "assay.selectorLabels" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Labels that select the pods of the pages. */}}
{{- define "assay.ui.selectorLabels" -}}
app.kubernetes.io/name: {{ include "assay.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: ui
{{- end }}

{{- define "assay.ui.labels" -}}
{{ merge (dict "app.kubernetes.io/component" "ui") (include "assay.labels" . | fromYaml) | toYaml }}
{{- end }}

{{/* Labels that select the pod of helm test. */}}
{{- define "assay.test.selectorLabels" -}}
app.kubernetes.io/name: {{ include "assay.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: test
{{- end }}

{{/*
The labels and annotations that platforms want on every pod: those of a part of the chart replace the manager's. The argument is a
list of the root and the part's values.
*/}}
{{- define "assay.pod.labels" -}}
{{- $labels := merge (dict) (default dict (index . 1).podLabels) (default dict (index . 0).Values.podLabels) (default dict (index . 0).Values.commonLabels) }}
{{- if $labels }}
{{- toYaml $labels }}
{{- end }}
{{- end }}

{{- define "assay.pod.annotations" -}}
{{- $annotations := merge (dict) (default dict (index . 1).podAnnotations) (default dict (index . 0).Values.podAnnotations) }}
{{- if $annotations }}
{{- toYaml $annotations }}
{{- end }}
{{- end }}

{{/*
Where a pod that isn't the manager's runs: as its part's values say, else as the manager does. Rules about other pods are about the
manager's own, and not taken over.
*/}}
{{- define "assay.pod.placement" -}}
{{- $values := (index . 0).Values }}
{{- $part := index . 1 }}
{{- with $part.priorityClassName | default $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with merge (dict) (default dict $part.nodeSelector) (default dict $values.nodeSelector) }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.affinity | default (pick (default dict $values.affinity) "nodeAffinity") }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.tolerations | default $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A duration such as 1m30s in milliseconds. */}}
{{- define "assay.milliseconds" -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 }}
{{- $total := 0 }}
{{- range regexFindAll "[0-9]+(ms|s|m|h)" . -1 }}
{{- $total = add $total (mul (regexFind "[0-9]+" .) (get $units (regexFind "[a-z]+" .))) }}
{{- end }}
{{- $total }}
{{- end }}

{{/* Refuses values of which each is right and that can't work together; the schema can't say that. */}}
{{- define "assay.check" -}}
{{- $ports := dict }}
{{- range $value, $port := merge (dict "session.port" .Values.session.port "healthPort" .Values.healthPort) (ternary (dict "metrics.port" .Values.metrics.port) (dict) .Values.metrics.enabled) }}
{{- with get $ports (toString $port) }}
{{- fail (printf "%s and %s are both %v: the manager serves each on a port of its own; set one of them to another port" . $value $port) }}
{{- end }}
{{- $_ := set $ports (toString $port) $value }}
{{- end }}
{{- with .Values.leaderElection }}
{{- $lease := include "assay.milliseconds" .leaseDuration | int64 }}
{{- $deadline := include "assay.milliseconds" .renewDeadline | int64 }}
{{- $retry := include "assay.milliseconds" .retryPeriod | int64 }}
{{- if le $lease $deadline }}
{{- fail (printf "leaderElection.leaseDuration is %s: it must be longer than leaderElection.renewDeadline, %s" .leaseDuration .renewDeadline) }}
{{- end }}
{{- if or (eq $retry 0) (le (mul 10 $deadline) (mul 12 $retry)) }}
{{- fail (printf "leaderElection.renewDeadline is %s: it must be more than 1.2 times leaderElection.retryPeriod, %s, which must not be 0" .renewDeadline .retryPeriod) }}
{{- end }}
{{- end }}
{{- with .Values.metrics }}
{{- range $name := list "serviceMonitor" "prometheusRule" "dashboard" }}
{{- if and (get $.Values.metrics $name).enabled (not $.Values.metrics.enabled) }}
{{- fail (printf "metrics.%s.enabled needs metrics.enabled: there would be nothing to scrape" $name) }}
{{- end }}
{{- end }}
{{- if and .readers (not .secure) }}
{{- fail "metrics.readers needs metrics.secure: without it everybody reads the metrics; remove the readers" }}
{{- end }}
{{- with .serviceMonitor }}
{{- if and .interval .scrapeTimeout (lt (include "assay.milliseconds" .interval | int64) (include "assay.milliseconds" .scrapeTimeout | int64)) }}
{{- fail (printf "metrics.serviceMonitor.scrapeTimeout is %s: Prometheus refuses one that is longer than metrics.serviceMonitor.interval, %s" .scrapeTimeout .interval) }}
{{- end }}
{{- end }}
{{- end }}
{{- if not (or .Values.namespaces .Values.rbac.clusterScoped) }}
{{- fail "rbac.clusterScoped=false needs namespaces: the rights to serve all namespaces can only be a ClusterRole's; set namespaces" }}
{{- end }}
{{- if and .Values.metrics.readers (not (include "assay.metricsReader" .)) }}
{{- fail "metrics.readers needs rbac.create and rbac.clusterScoped: the right to read metrics can only be a ClusterRole's; remove the readers, and let an administrator bind them" }}
{{- end }}
{{- with .Values.results.bucketCredentials }}
{{- if and (or .googleKey .caKey) (not .secretName) }}
{{- fail "results.bucketCredentials.googleKey and results.bucketCredentials.caKey are keys of the Secret results.bucketCredentials.secretName: set it" }}
{{- end }}
{{- end }}
{{- end }}

{{/* true if the release has a ClusterRole for readers of metrics, else empty. */}}
{{- define "assay.metricsReader" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure .Values.rbac.create (or (not .Values.namespaces) .Values.rbac.clusterScoped) }}true{{ end }}
{{- end }}

{{- define "assay.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (printf "%s-manager" (include "assay.fullname" .)) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The reference of an image. The argument is a list of the root and the image's values. */}}
{{- define "assay.image" -}}
{{- $root := index . 0 }}
{{- $image := index . 1 }}
{{- if $image.digest }}
{{- printf "%s@%s" $image.repository $image.digest }}
{{- else }}
{{- printf "%s:%s" $image.repository (default $root.Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}

{{/*
The prefix of the names of objects without a namespace. A release of some namespaces has its own in it: a
release of the same name may serve others.
*/}}
{{- define "assay.clusterName" -}}
{{- if .Values.namespaces }}
{{- printf "%s-%s" (include "assay.fullname" .) .Release.Namespace }}
{{- else }}
{{- include "assay.fullname" . }}
{{- end }}
{{- end }}

{{/* The Secret of the session certificate: the manager's own, or the one that cert-manager issues. */}}
{{- define "assay.sessionSecret" -}}
{{- include "assay.fullname" . }}-session-tls{{ if .Values.sessionCertificate.certManager.enabled }}-issued{{ end }}
{{- end }}

{{/*
The manager's rules, of the generated ones, for resources in namespaces or for those in none. The argument is a
list of the root and "namespaced", "clusterScoped" or "all". Only secure metrics need subjectaccessreviews, and only networkPolicies.runs needs networkpolicies.
*/}}
{{- define "assay.rules.manager" -}}
{{- $root := index . 0 }}
{{- $scope := index . 1 }}
{{- $unscoped := list "nodes" "tokenreviews" "subjectaccessreviews" }}
{{- range include "assay.rules.ClusterRole.manager-role" $root | fromYamlArray }}
{{- $resources := list }}
{{- range .resources }}
{{- $fits := or (eq $scope "all") (eq (has . $unscoped) (eq $scope "clusterScoped")) }}
{{- $scrapers := or (ne . "subjectaccessreviews") (and $root.Values.metrics.enabled $root.Values.metrics.secure) }}
{{- $policies := or (ne . "networkpolicies") $root.Values.networkPolicies.runs }}
{{- if and $fits $scrapers $policies }}
{{- $resources = append $resources . }}
{{- end }}
{{- end }}
{{- if $resources }}
{{ list (set . "resources" $resources) | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{/* The mounts and the volumes of the manager: the buckets and their credentials, and those that are set. */}}
{{- define "assay.manager.mounts" -}}
{{- if include "assay.buckets" . }}
- name: buckets
  mountPath: /etc/assay/buckets
  readOnly: true
{{- with .Values.results.bucketCredentials }}
{{- if and .secretName (or .googleKey .caKey) }}
- name: bucket-credentials
  mountPath: /etc/assay/bucket-credentials
  readOnly: true
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "assay.manager.volumes" -}}
{{- if include "assay.buckets" . }}
- name: buckets
  configMap:
    name: {{ include "assay.fullname" . }}-buckets
{{- with .Values.results.bucketCredentials }}
{{- if and .secretName (or .googleKey .caKey) }}
- name: bucket-credentials
  secret:
    secretName: {{ .secretName }}
    items:
    {{- with .googleKey }}
    - {key: {{ . | quote }}, path: google.json}
    {{- end }}
    {{- with .caKey }}
    - {key: {{ . | quote }}, path: ca.crt}
    {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* true if there are buckets for results, else empty. */}}
{{- define "assay.buckets" -}}
{{- with .Values.results }}{{ if or .buckets.default .buckets.namespaces }}true{{ end }}{{ end }}
{{- end }}
