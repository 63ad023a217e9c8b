package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

// askedOf are the pods of which something is asked: one by itself and one that a
// StatefulSet makes again.
const askedOf = `
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: NAMESPACE, labels: {app: alone, kubectl-kruise.dev/in-service: "true"}, annotations: {lab.test/run: "tracer=1s"}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: app, image: "registry.example.com/app:1", imagePullPolicy: IfNotPresent}
  - {name: proxy, image: "registry.example.com/proxy:1", imagePullPolicy: IfNotPresent}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set, namespace: NAMESPACE}
spec:
  replicas: 1
  serviceName: set
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: "registry.example.com/app:1"}]
`

const (
	restartBoth = `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: both, namespace: NAMESPACE}
spec:
  podName: alone
  containers: [{name: app}, {name: proxy}]
  strategy: {orderedRecreate: true, minStartedSeconds: 1, unreadyGracePeriodSeconds: 1}
  activeDeadlineSeconds: 120
`
	evictOne = `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: one, namespace: NAMESPACE, annotations: {kubectl-kruise.dev/method: evict}}
spec: {podName: set-0, containers: [{name: app}]}
`
	traceAlone = `
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: trace, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: alone}}
  template:
    ephemeralContainers:
    - {name: tracer, image: "registry.example.com/tracer:1", imagePullPolicy: IfNotPresent, terminationMessagePolicy: File, targetContainerName: app}
`
)

// TestRequests_RestartAndDebugByKubectl sends what restarts and ephemeral containers become, by the commands
// that the steps give, and looks at the pods.
func TestRequests_RestartAndDebugByKubectl(t *testing.T) {
	bed, namespace := cluster.Shared(t, kruise.API())
	h := &hand{bed, t, namespace, filepath.Join(t.TempDir(), "patches")}
	if err := os.MkdirAll(h.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	h.own()
	h.sh("kubectl config set-context --current --namespace " + namespace)
	h.sh("kubectl apply -f " + h.write("pods.yaml", askedOf))
	h.sh("kubectl wait pod/alone pod/set-0 --for=create --timeout=5m")
	h.sh("kubectl wait pod/alone pod/set-0 --for=condition=Ready --timeout=5m")
	alone := `kubectl get pod alone -o jsonpath='{.metadata.uid}{range .status.containerStatuses[*]} {.name}={.restartCount}{end}'`
	before := h.sh(alone)

	asked := func(name, request string, steps int) {
		t.Helper()
		h.render(name+".out", "-f", h.write(name+".yaml", request), "--patches-dir", h.folder,
			"--with", h.write("with.yaml", h.sh("kubectl get pods -o yaml")))
		if n := h.follow(); n != steps {
			t.Errorf("%s: %d steps, want %d", name, n, steps)
		}
	}
	asked("both", restartBoth, 4)
	if now := h.sh(alone); now != strings.ReplaceAll(before, "=0", "=1") {
		t.Errorf("want both containers restarted in the same pod: %s before, %s now", before, now)
	}
	if label := h.sh(`kubectl get pod alone -o jsonpath='{.metadata.labels.kubectl-kruise\.dev/in-service}'`); label != "true" {
		t.Errorf("the pod is not back in service: %q", label)
	}
	asked("again", restartBoth, 4)
	if now := h.sh(alone); now != strings.ReplaceAll(before, "=0", "=2") {
		t.Errorf("want both containers restarted once more: %s before, %s now", before, now)
	}

	set := `kubectl get pod set-0 -o jsonpath='{.metadata.uid}'`
	was := h.sh(set)
	asked("one", evictOne, 1)
	h.sh("kubectl wait pod/set-0 --for=create --timeout=5m")
	if h.sh(set) == was {
		t.Error("set-0 was not recreated")
	}

	asked("trace", traceAlone, 1)
	traced := `kubectl get pod alone -o jsonpath='{.spec.ephemeralContainers[*].name} {.status.ephemeralContainerStatuses[0].state.terminated.exitCode}'`
	if now := h.sh(traced); now != "tracer 0" {
		t.Errorf("want a tracer that has ended well: %q", now)
	}
	asked("trace-again", traceAlone, 0)
}
