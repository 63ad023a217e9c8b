package commands

import (
	"fmt"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func TestZZ(t *testing.T) {
	b := withRollouts(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload(kruiseV1, "StatefulSet", "db", "")+`
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web}
spec:
  workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  strategy: {canary: {steps: [{replicas: 1, traffic: 20%}, {replicas: 100%}]}}
`)
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	b.await(t, kruiseV1, "StatefulSet", "db", ready)
	b.stand(t, rolloutsV1, "Rollout", "web", map[string]any{"phase": "Progressing", "message": "Rollout is in step(1/2), and you need manually confirm to enter the next step", "observedGeneration": int64(1), "canaryStatus": map[string]any{"currentStepIndex": int64(1), "currentStepState": "StepPaused"}})
	show := func(b *bed, args ...string) {
		a := b.call(t, args...)
		fmt.Printf("$ %q -> %d\n%s--- err\n%s\n", args, a.code, a.out, a.err)
	}
	show(b, "get", "all")
	show(b, "get", "clone", "-o", "wide")
	show(b, "describe", "rollout", "web")
	show(b, "debug", "-l", "app=web", "--image", "busybox", "--dry-run=client", "-o", "yaml", "--", "date")
	show(b, "debug", "cloneset/web", "--image", "busybox")
	show(b, "__complete", "get", "clones")
	show(b, "__complete", "get", "cloneset", "")
	show(b, "__complete", "describe", "cloneset/")
	show(b, "__complete", "exec", "")
	show(b, "__complete", "exec", b.podsOf(t, "web")[0].Name, "-c", "")
	show(b, "__complete", "logs", "cloneset/")
	show(b, "__complete", "describe", "rollout", "")
	show(b, "describe", "sidecarsets")

	c, namespace := cluster.Shared(t)
	n := &bed{c, namespace}
	n.Apply(t, namespace, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {kubectl-kruise.dev/source: cloneset.web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
`)
	n.await(t, "apps/v1", "Deployment", "web", ready)
	show(n, "exec", "cloneset/web", "--", "hostname")
	show(n, "logs", "clone/web", "--all-pods")
	show(n, "logs", "clone/nobody")
	show(n, "get", "all")
	show(n, "get", "cloneset")
	show(n, "describe", "cloneset/web")
	show(n, "debug", "cloneset/web", "--image", "busybox", "--", "date")
	show(n, "debug", "-l", "app=nobody", "--image", "busybox", "--", "date")
	show(n, "debug", "-l", "app=web", "--image", "busybox", "--dry-run=client")
	show(n, "get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {.spec.ephemeralContainers[*].name}{\"\\n\"}{end}")
}
