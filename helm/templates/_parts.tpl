{{/* Names and labels of one process. Called with (dict "root" $ "role" "bot"). */}}
{{- define "cnibot.name" -}}
{{- printf "%s-%s" (.root.Release.Name | trunc 50 | trimSuffix "-") .role -}}
{{- end -}}

{{- define "cnibot.selector" -}}
app.kubernetes.io/name: cnibot
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "cnibot.labels" -}}
{{ include "cnibot.selector" . }}
app.kubernetes.io/part-of: cnibot
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Settings → environment: sshReadUser becomes CNIBOT_SSH_READ_USER. Empty ones are left out. */}}
{{- define "cnibot.settings" -}}
{{- $own := index .root.Values .role -}}
{{- range $name, $value := merge (deepCopy $own.settings) .root.Values.settings }}
{{- if ne (toString $value) "" }}
- name: CNIBOT_{{ $name | snakecase | upper }}
  value: {{ toString $value | quote }}
{{- end }}
{{- end }}
- name: CNIBOT_REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.secrets.redis.existingSecret }}
      key: {{ .root.Values.secrets.redis.urlKey }}
{{- if .root.Values.runbooks }}
- name: CNIBOT_RUNBOOKS_DIR
  value: /etc/cnibot/runbooks
{{- end }}
{{- end -}}

{{- define "cnibot.container" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ .role }}]
ports:
  - name: http
    containerPort: {{ .root.Values.settings.httpPort }}
# Alive means that the process turns; it does not depend on Slack, Redis or the API server.
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
resources:
  {{- toYaml (index .root.Values .role).resources | nindent 2 }}
{{- end -}}

{{- define "cnibot.pod" -}}
serviceAccountName: {{ include "cnibot.name" . }}
enableServiceLinks: false
# Longer than the processes take to stop by themselves.
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (index .root.Values .role).nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (index .root.Values .role).tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (index .root.Values .role).affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
