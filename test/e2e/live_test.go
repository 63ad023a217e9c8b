// Package e2e runs the product's binary against real control planes.
package e2e

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// run calls the product with manifests on its input and returns its output.
func run(t *testing.T, c *cluster.Cluster, manifests string, args ...string) string {
	t.Helper()
	path, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(args, "--kubeconfig", c.Kubeconfig(), "-f", "-")...)
	cmd.Stdin = strings.NewReader(manifests)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &said)
	}
	return out.String()
}

// sidecars goes into pods of namespaces with the label mesh.
const sidecars = `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {matchLabels: {mesh: "yes"}}
  containers: [{name: mesh, image: "registry.example.com/mesh:1"}]
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: app, image: "registry.example.com/app:1"}]
`

// TestRenderLive_UsesNamespaceLabels: the namespace's label is in the cluster alone, and what is
// rendered comes up there.
func TestRenderLive_UsesNamespaceLabels(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+`, labels: {mesh: "yes"}}}`)
	rendered := run(t, c, strings.ReplaceAll(deployment, "NAMESPACE", namespace)+"---"+sidecars, "render", "--live")
	c.Apply(t, namespace, rendered)
	d, err := cluster.Await(t.Context(), c.Client().AppsV1().Deployments(namespace), "web",
		func(_ watch.EventType, d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 2 })
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Spec.Template.Spec.Containers); n != 2 {
		t.Errorf("%d containers in\n%s", n, rendered)
	}
}

const cloneSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: app, image: "registry.example.com/app:1"}]
`

// TestTargetAuto_FollowsTheCluster: a cluster that serves Kruise's kinds gets them, another one
// native workloads.
func TestTargetAuto_FollowsTheCluster(t *testing.T) {
	without, _ := cluster.Shared(t)
	if out := run(t, without, cloneSet, "render", "--target", "auto"); !strings.Contains(out, "kind: Deployment") {
		t.Errorf("without Kruise:\n%s", out)
	}
	with, namespace := cluster.Shared(t, kruise.API())
	out := run(t, with, strings.ReplaceAll(cloneSet, "namespace: default", "namespace: "+namespace), "render", "--target", "auto")
	if !strings.Contains(out, "kind: CloneSet") {
		t.Errorf("with Kruise:\n%s", out)
	}
	with.Apply(t, namespace, out)
}
