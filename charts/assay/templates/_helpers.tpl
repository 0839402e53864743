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

{{/* The mounts and the volumes of the manager: the buckets and their credentials. */}}
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
{{- end }}

{{/* true if there are buckets for results, else empty. */}}
{{- define "assay.buckets" -}}
{{- with .Values.results }}{{ if or .buckets.default .buckets.namespaces }}true{{ end }}{{ end }}
{{- end }}
