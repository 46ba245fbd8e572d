{{- define "macaron.labels" -}}
app.kubernetes.io/name: macaron
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "macaron.selector" -}}
app.kubernetes.io/name: macaron
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "macaron.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "macaron.mounts" -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
- {name: config, mountPath: /data/config.toml, subPath: config.toml, readOnly: true}
- {name: keys, mountPath: /run/macaron/keys, readOnly: true}
{{- if .Values.contract.configMap }}
- {name: contract, mountPath: /etc/macaron/macaron.toml, subPath: {{ .Values.contract.key }}, readOnly: true}
{{- end }}
{{- if .Values.postgres.passwordSecret }}
- {name: postgres, mountPath: /run/macaron/postgres, readOnly: true}
{{- end }}
{{- end }}

{{- define "macaron.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
