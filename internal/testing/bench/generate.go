package main

import (
	"bytes"
	"fmt"
	"slices"
	"text/template"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// sets is the number of SidecarSets in every input; each pod template is
// matched by sets/tiers of them.
const (
	sets  = 20
	tiers = 4
)

// mix is how often a kind stands among ten objects.
var mix = []string{kruise.KindDeployment, kruise.KindCloneSet, "Service", "ConfigMap", kruise.KindStatefulSet, kruise.KindCloneSet, "CronJob", "Service", "Job", kruise.KindDeployment}

// generate returns n mixed objects and the SidecarSets, about 480 bytes each,
// with the comments and the odd style that people write.
func generate(n int) []byte { return generateFrom(n, nil) }

// generateChanged returns the objects of generate, 30 % of them with another image.
func generateChanged(n int) []byte { return generateFrom(n, []int{0, 1, 4}) }

// generateFrom makes the objects; changed are the places in the mix with another image.
func generateFrom(n int, changed []int) []byte {
	var b bytes.Buffer
	for i := range sets {
		execute(&b, kruise.KindSidecarSet, object{I: i, Tier: i % tiers, PerPod: i < tiers})
	}
	for i := range n - sets {
		o := object{I: i, Tier: i / len(mix) % tiers, Version: "v1.2"}
		if slices.Contains(changed, i%len(mix)) {
			o.Version = "v1.3"
		}
		execute(&b, mix[i%len(mix)], o)
	}
	return b.Bytes()
}

// object is what the templates are filled with. PerPod makes a sidecar depend
// on the pod that it is put into.
type object struct {
	I, Tier int
	PerPod  bool
	Version string
}

// execute panics on a fault: the templates below are all that it runs.
func execute(b *bytes.Buffer, kind string, o object) {
	if err := templates.ExecuteTemplate(b, kind, o); err != nil {
		panic(fmt.Sprintf("template %s: %v", kind, err))
	}
}

var templates = template.Must(template.New("").Parse(`
{{- define "Pod"}}
    metadata:
      labels:
        app: app-{{.I}}
        tier: "t{{.Tier}}"
      annotations:
        # scraped by the cluster's own Prometheus
        prometheus.io/port: "9090"
    spec:
      containers:
      - name: main
        image: registry.example.org/shop/app-{{.I}}:{{.Version}}.{{.I}}
        args: [--port=8080, "--verbose"]
        ports:
        - containerPort: 8080
        env:
        - name: APP_NAME
          value: app-{{.I}}
{{- end}}
{{- define "Deployment"}}---
# the front of app {{.I}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: front-{{.I}}
  namespace: shop
spec:
  replicas: 3 # enough
  selector:
    matchLabels:
      app: app-{{.I}}
  template:
{{- template "Pod" .}}
{{end}}
{{- define "CloneSet"}}---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: clone-{{.I}}
  namespace: shop
spec:
  replicas: 5
  updateStrategy:
    rollingUpdate:
      maxUnavailable: 20%   # one at a time
  selector:
    matchLabels:
      app: app-{{.I}}
  template:
{{- template "Pod" .}}
{{end}}
{{- define "StatefulSet"}}---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: state-{{.I}}
  namespace: shop
spec:
  serviceName: state-{{.I}}
  selector:
    matchLabels:
      app: app-{{.I}}
  template:
{{- template "Pod" .}}
{{end}}
{{- define "Job"}}---
apiVersion: batch/v1
kind: Job
metadata:
  name: job-{{.I}}
  namespace: shop
spec:
  backoffLimit: 2
  template:
{{- template "Pod" .}}
      restartPolicy: Never
{{end}}
{{- define "CronJob"}}---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: cron-{{.I}}
  namespace: shop
spec:
  schedule: "*/10 * * * *"
  jobTemplate:
    spec:
      template:
        metadata:
          labels: {app: app-{{.I}}, tier: "t{{.Tier}}"}
        spec:
          restartPolicy: OnFailure
          containers:
          - name: main
            image: registry.example.org/shop/app-{{.I}}:{{.Version}}.{{.I}}
            command: ["/bin/sh", "-c", "date; echo done"]
{{end}}
{{- define "Service"}}---
apiVersion: v1
kind: Service
metadata:
  name: svc-{{.I}}
  namespace: shop
  annotations:
    # kept for the load balancer
    example.org/idle-timeout: "300"
    example.org/owner: 'team {{.I}}'
spec:
  selector:
    app: app-{{.I}}
  ports:
    - name: http
      port: 80
      targetPort: 8080
    - name: metrics
      port: 9090
{{end}}
{{- define "ConfigMap"}}---
apiVersion: v1
kind: ConfigMap
metadata:
  name: config-{{.I}}
  namespace: shop
data:
  # read once, at the start
  app.properties: |
    shop.port=8080
    shop.name=app-{{.I}}
    # how long to wait, in seconds
    shop.timeout=30
    shop.features=cart,search,reviews
  LOG_LEVEL: info
{{end}}
{{- define "SidecarSet"}}---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata:
  name: sidecars-{{.I}}
spec:
  selector:
    matchLabels:
      tier: "t{{.Tier}}"
  containers:
  - name: agent-{{.I}}
    image: registry.example.org/mesh/agent-{{.I}}:v3
    args: ["--config=/etc/agent.yaml"]
{{- if .PerPod}}
    transferEnv:
    - sourceContainerName: main
      envName: APP_NAME
    shareVolumePolicy:
      type: enabled
{{- end}}
    env:
    - name: AGENT_ID
      value: agent-{{.I}}
    resources:
      limits:
        memory: 64Mi
    volumeMounts:
    - name: agent-{{.I}}
      mountPath: /var/run/agent-{{.I}}
  volumes:
  - name: agent-{{.I}}
    emptyDir: {}
{{end}}`))
