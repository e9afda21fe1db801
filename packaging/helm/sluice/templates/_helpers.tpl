{{/* Name of the app: that of the release. */}}
{{- define "sluice.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.labels" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
{{- end -}}

{{- define "sluice.image" -}}
{{- $repository := required "image.repository: name the image with the app, as `sluice init --docker` builds it" .Values.image.repository -}}
{{- if .Values.image.digest }}{{ $repository }}@{{ .Values.image.digest }}{{ else }}{{ $repository }}:{{ .Values.image.tag }}{{ end -}}
{{- end -}}

{{/* Time from SIGTERM to the last exit, with a margin, seconds. */}}
{{- define "sluice.grace" -}}
{{- with .Values.drain }}{{ add .delay .timeout .stop .margin }}{{ end -}}
{{- end -}}

{{/* What both autoscalers do with the pods. */}}
{{- define "sluice.behavior" -}}
{{- with .Values.autoscaling -}}
scaleUp:
  stabilizationWindowSeconds: 0
  selectPolicy: Max
  policies:
    - type: Pods
      value: {{ .scaleUp.pods }}
      periodSeconds: {{ .scaleUp.period }}
    - type: Percent
      value: {{ .scaleUp.percent }}
      periodSeconds: {{ .scaleUp.period }}
scaleDown:
  stabilizationWindowSeconds: {{ .scaleDown.after }}
  selectPolicy: Max
  policies:
    - type: Pods
      value: 1
      periodSeconds: {{ .scaleDown.period }}
    - type: Percent
      value: {{ .scaleDown.percent }}
      periodSeconds: {{ .scaleDown.period }}
{{- end -}}
{{- end -}}

{{/* An emptyDir of at most this size; none if empty. */}}
{{- define "sluice.emptyDir" -}}
{{- if . }}{ sizeLimit: {{ . }} }{{ else }}{}{{ end -}}
{{- end -}}
