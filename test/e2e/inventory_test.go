package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// inhabited is what a cluster holds before it is asked: a subset that has grown,
// a copy that is in the way, a stored revision, and a Secret that no object refers to
// business.
const inhabited = `
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE, labels: {facts: NAMESPACE}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout-zone-b, namespace: NAMESPACE, labels: {app: checkout, apps.kruise.io/subset-name: zone-b}}
spec:
  replicas: 3
  selector: {matchLabels: {app: checkout}}
  template:
    metadata: {labels: {app: checkout, apps.kruise.io/subset-name: zone-b}}
    spec:
      containers: [{name: app, image: "registry.example.com/app:1", env: [{name: TOKEN, value: hunter2}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ca, namespace: NAMESPACE}
data: {ca.crt: hunter2}
---
apiVersion: v1
kind: Secret
metadata: {name: ca, namespace: NAMESPACE}
stringData: {key: hunter2}
---
apiVersion: v1
kind: Namespace
metadata: {name: kruise-system}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: NAMESPACE-1, namespace: kruise-system, labels: {kruise.io/sidecarset-name: mesh}}
revision: 1
data:
  spec:
    containers: [{name: mesh, image: "registry.example.com/mesh:1"}]
`

const asking = `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: checkout, namespace: NAMESPACE}
spec:
  replicas: 7
  selector: {matchLabels: {app: checkout}}
  template:
    deploymentTemplate:
      metadata: {labels: {app: checkout}}
      spec:
        selector: {matchLabels: {app: checkout}}
        template:
          metadata: {labels: {app: checkout}}
          spec: {containers: [{name: app, image: "registry.example.com/app:1"}]}
  topology: {subsets: [{name: zone-a}, {name: zone-b}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: ca}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: x}}
  targets: {namespaceSelector: {matchExpressions: [{key: facts, operator: Exists}]}}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {app: checkout}}
  injectionStrategy: {revision: {revisionName: NAMESPACE-1}}
  containers: [{name: mesh, image: "registry.example.com/mesh:2"}]
---
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata: {name: sweep, namespace: NAMESPACE}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example.com/sweep:1"}]}}
`

// TestInventory_RendersAsTheClusterDoes: what is written down holds no more than it must, is the same
// each time, and renders to what the cluster itself does.
func TestInventory_RendersAsTheClusterDoes(t *testing.T) {
	c, namespace := cluster.Shared(t, kruise.API())
	in := func(text string) string { return strings.ReplaceAll(text, "NAMESPACE", namespace) }
	c.Apply(t, namespace, in(inhabited))
	deployed, err := cluster.Await(t.Context(), c.Client().AppsV1().Deployments(namespace), "checkout-zone-b",
		func(_ watch.EventType, d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 3 })
	if err != nil {
		t.Fatal(err)
	}
	facts := run(t, c, in(asking), "inventory")
	if again := run(t, c, in(asking), "inventory"); again != facts {
		t.Errorf("the same cluster gives\n%s\nand\n%s", facts, again)
	}
	for _, secret := range []string{"hunter2", string(deployed.UID), "resourceVersion", "Timestamp", "last-applied", "managedFields", "kind: Secret", "address"} {
		if strings.Contains(facts, secret) {
			t.Errorf("%s is in\n%s", secret, facts)
		}
	}
	file := filepath.Join(t.TempDir(), "facts.yaml")
	if err := os.WriteFile(file, []byte(facts), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"native", "auto"} {
		live := run(t, c, in(asking), "render", "--live", "--target", target)
		if with := run(t, c, in(asking), "render", "--with", file, "--target", target); with != live {
			t.Errorf("--with:\n%s\n--live:\n%s", with, live)
		}
		if native := strings.Contains(live, "kind: Job"); native != (target == "native") {
			t.Errorf("%s:\n%s", target, live)
		}
	}
	rendered := run(t, c, in(asking), "render", "--with", file)
	if !strings.Contains(rendered, "registry.example.com/mesh:1") || strings.Contains(rendered, "kind: ConfigMap") {
		t.Errorf("neither the stored revision nor the conflict is known:\n%s", rendered)
	}
}

// TestInventory_NamesMissingRights: who may read little learns what is missing.
func TestInventory_NamesMissingRights(t *testing.T) {
	c, namespace := cluster.Shared(t, kruise.API())
	pair, err := c.Issue(pki.Subject{Name: "limited-user"})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.WriteKubeconfig(config, pair); err != nil {
		t.Fatal(err)
	}
	out, said, err := as(t, config, "inventory", "-n", namespace)
	if err != nil || !strings.Contains(out, "kind: ClusterFacts") || !strings.Contains(said, "warning: the inventory is without nodes: nodes is forbidden") {
		t.Errorf("%v\n%s\n%s", err, said, out)
	}
	if _, said, err := as(t, config, "inventory", "-n", namespace, "--strict"); err == nil || !strings.Contains(said, "--strict was given") {
		t.Errorf("with --strict: %v\n%s", err, said)
	}
}

// as calls the product as a user, without an input.
func as(t *testing.T, kubeconfig string, args ...string) (out, said string, err error) {
	t.Helper()
	path, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(args, "--kubeconfig", kubeconfig)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}
