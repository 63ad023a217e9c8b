package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	someDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
`
	someStatefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  updateStrategy: {rollingUpdate: {partition: 0}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "registry.example.com/db:1"}]}
`
	someDaemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "registry.example.com/agent:1"}]}
`
	someCronJob = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: "0 3 1 1 *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/report:1"}]}
`
	someBudget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`
)

// moving is one way of docs/moving.md, walked through there and back. NATIVE and KRUISE
// are the files.
type moving struct {
	native string
	there  []string
	back   []string
}

// TestMovingPage_CommandsWork sends the commands of docs/moving.md as they stand there.
func TestMovingPage_CommandsWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]moving{
		"Deployment": {
			native: someDeployment,
			there: []string{
				"kubectl apply -f KRUISE",
				"kubectl wait --for=jsonpath='{.status.updatedAvailableReplicas}'=5 cloneset/web --timeout=10m",
				"kubectl scale deployment/web --replicas=0",
				"kubectl delete deployment/web",
			},
			back: []string{
				"kubectl apply -f NATIVE",
				"kubectl rollout status deployment/web",
				"kubectl scale cloneset/web --replicas=0",
				"kubectl delete cloneset/web",
			},
		},
		"StatefulSet": {
			native: someStatefulSet,
			there: []string{
				"kubectl delete statefulset.apps/db --cascade=orphan",
				"sed 's/partition: 0/partition: 2/' KRUISE | kubectl apply -f -",
				"kubectl delete pod db-0 && kubectl wait --for=create pod/db-0 --timeout=10m && kubectl wait --for=condition=Ready pod/db-0 --timeout=10m",
				"kubectl delete pod db-1 && kubectl wait --for=create pod/db-1 --timeout=10m && kubectl wait --for=condition=Ready pod/db-1 --timeout=10m",
				"kubectl get pods -o custom-columns=NAME:.metadata.name,OWNER:.metadata.ownerReferences[0].apiVersion | grep -c apps.kruise.io/ | grep 2",
				"kubectl apply -f KRUISE",
			},
			back: []string{
				"kubectl delete statefulset.apps.kruise.io/db --cascade=orphan",
				"sed 's/partition: 0/partition: 2/' NATIVE | kubectl apply -f -",
				"kubectl delete pod db-0 && kubectl wait --for=create pod/db-0 --timeout=10m && kubectl wait --for=condition=Ready pod/db-0 --timeout=10m",
				"kubectl delete pod db-1 && kubectl wait --for=create pod/db-1 --timeout=10m && kubectl wait --for=condition=Ready pod/db-1 --timeout=10m",
				"kubectl get pods -o custom-columns=NAME:.metadata.name,OWNER:.metadata.ownerReferences[0].apiVersion | grep -c apps/v1 | grep 2",
				"kubectl apply -f NATIVE",
			},
		},
		"CronJob": {
			native: someCronJob,
			there: []string{
				`kubectl patch cronjob/report -p '{"spec":{"suspend":true}}'`,
				"kubectl apply -f KRUISE",
				"kubectl delete cronjob/report",
			},
			back: []string{
				`kubectl patch advancedcronjob/report --type=merge -p '{"spec":{"paused":true}}'`,
				"kubectl apply -f NATIVE",
				"kubectl delete advancedcronjob/report",
			},
		},
		"PodDisruptionBudget": {
			native: someDeployment + "---" + someBudget,
			there: []string{
				"kubectl apply -f KRUISE",
				"kubectl wait --for=jsonpath='{.status.observedGeneration}' podunavailablebudget/web --timeout=10m",
				"kubectl delete poddisruptionbudget/web",
			},
			back: []string{"kubectl apply -f NATIVE", "kubectl delete podunavailablebudget/web"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t)
			native := h.write("native.yaml", m.native)
			kruise := h.made("kruise.yaml", "convert", "-f", native, "--to", "kruise", "-q")
			back := h.made("back.yaml", "convert", "-f", kruise, "--to", "native", "-q")
			h.sh("kubectl apply -f " + native)
			for _, command := range append(m.there, m.back...) {
				printed(t, string(page), command)
				h.sh(strings.NewReplacer("KRUISE", kruise, "NATIVE", back).Replace(command))
			}
		})
	}
}

// printed wants a command to stand on the page: NEW is the file there, and what a test
// adds after a bar or before it does not count.
func printed(t *testing.T, page, command string) {
	t.Helper()
	if strings.HasPrefix(command, "sed ") {
		return
	}
	command, _, _ = strings.Cut(command, " | ")
	text := strings.NewReplacer("KRUISE", "NEW", "NATIVE", "NEW", "db-1", "db-0").Replace(command)
	if !strings.Contains(strings.Join(strings.Fields(page), " "), "`"+text+"`") {
		t.Errorf("docs/moving.md lacks %s", text)
	}
}

// TestMovingPage_DaemonSetsMoveNodeByNode: node by node, as docs/moving.md says.
func TestMovingPage_DaemonSetsMoveNodeByNode(t *testing.T) {
	h := newHand(t)
	native := h.write("native.yaml", someDaemonSet)
	// The label is the test's own: nodes are everybody's.
	label := "example.com/moved-" + h.namespace
	away := strings.NewReplacer(
		"spec: {containers", "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "+label+", operator: DoesNotExist}]}]}}}, containers",
		"  selector: {matchLabels", "  updateStrategy: {type: OnDelete}\n  selector: {matchLabels",
	).Replace(someDaemonSet)
	kruise := h.made("kruise.yaml", "convert", "-f", native, "--to", "kruise", "-q")
	text, err := os.ReadFile(kruise)
	if err != nil {
		t.Fatal(err)
	}
	onto := h.write("onto.yaml", strings.Replace(string(text), "spec: {containers", "spec: {nodeSelector: {"+label+": \"true\"}, containers", 1))
	h.sh("kubectl apply -f " + native + " && kubectl rollout status daemonset.apps/agent --timeout=10m")
	before := h.sh("kubectl get pods -o name")
	h.sh("kubectl apply -f " + h.write("only.yaml", strings.Replace(someDaemonSet, "  selector: {matchLabels", "  updateStrategy: {type: OnDelete}\n  selector: {matchLabels", 1)))
	h.sh("kubectl apply -f " + h.write("away.yaml", away))
	h.sh("kubectl apply -f " + onto)
	if after := h.sh("kubectl get pods -o name"); after != before {
		t.Errorf("pods were replaced before their node's turn:\n%s\n%s", before, after)
	}
	nodes := strings.Fields(h.sh("kubectl get nodes -o name"))
	for _, node := range nodes {
		h.sh("kubectl label " + node + " " + label + "=true")
	}
	h.sh(fmt.Sprintf("kubectl wait --for=jsonpath='{.status.numberReady}'=%d daemonset.apps.kruise.io/agent --timeout=10m", len(nodes)))
	h.sh("kubectl delete daemonset.apps/agent")
	if left := h.sh("kubectl get pods -l app=agent --field-selector=status.phase=Running -o name"); strings.Count(left, "\n") != len(nodes) {
		t.Errorf("in the end:\n%s", left)
	}
	h.sh("kubectl label nodes --all " + label + "-")
}
