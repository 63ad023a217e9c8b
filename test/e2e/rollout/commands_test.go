package rollout

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// kubectl calls the command in a namespace; it returns its exit code and what it said.
func kubectl(t *testing.T, c *testcluster.Cluster, namespace string, args ...string) (code int, out, said string) {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "-n", namespace, "--kubeconfig", c.Kubeconfig())...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// images counts the ready pods of each image that stay, by the value of a label.
func images(t *testing.T, c *testcluster.Cluster, namespace, label string) map[string]int {
	t.Helper()
	list, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := map[string]int{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp != nil {
			continue
		}
		for _, image := range []string{web1, web2} {
			out[list.Items[i].Labels[label]+" "+image[len(image)-1:]] += running(list.Items[i:i+1], image)
		}
	}
	return out
}

const unitedWeb = `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
  topology: {subsets: [{name: zone-b, replicas: 2}, {name: zone-a, replicas: 3}]}
`

const rollouts = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.rollouts.kruise.io}
spec:
  group: rollouts.kruise.io
  scope: Namespaced
  names: {kind: Rollout, plural: rollouts, singular: rollout}
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// TestRolloutObjects_ApproveAndRollBack: a workload of a Kruise Rollout is approved and taken back
// through that, and no partition of it is touched.
func TestRolloutObjects_ApproveAndRollBack(t *testing.T) {
	t.Parallel()
	b := newBed(t, kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {partition: 100%}}"))
	c, namespace := b.Cluster, b.namespace
	c.Apply(t, namespace, rollouts)
	client, err := dynamic.NewForConfig(c.Config())
	must(t, err)
	api := client.Resource(schema.GroupVersionResource{Group: "rollouts.kruise.io", Version: "v1beta1", Resource: "rollouts"}).Namespace(namespace)
	// The API server begins to serve the kind a moment later.
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, testcluster.Patience, true, func(ctx context.Context) (bool, error) {
		_, err := api.List(ctx, metav1.ListOptions{})
		return err == nil, nil
	}))
	c.Apply(t, namespace, `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web}
spec:
  workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  strategy: {canary: {steps: [{replicas: 1}, {replicas: 100%}]}}
`)
	// A new image, and what the Rollout's webhook and controller make of it.
	web := client.Resource(schema.GroupVersionResource{Group: kruiseGroup, Version: "v1beta1", Resource: "clonesets"}).Namespace(namespace)
	_, err = web.Patch(t.Context(), "web", types.JSONPatchType, []byte(`[
		{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "`+web2+`"},
		{"op": "add", "path": "/metadata/annotations", "value": {"rollouts.kruise.io/in-progressing": "{}"}}]`), metav1.PatchOptions{})
	must(t, err)
	stand := func(phase, state, more string) {
		t.Helper()
		_, err := api.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"status": {"observedGeneration": 1, "phase": "`+phase+`"`+more+`,
			"canaryStatus": {"currentStepIndex": 1, "currentStepState": "`+state+`"}}}`), metav1.PatchOptions{}, "status")
		must(t, err)
	}
	stand("Progressing", "StepPaused", "")
	if code, _, said := kubectl(t, c, namespace, "rollout", "run", "cloneset/web", "--image", "main=registry.example.com/web:3", "--yes", "--detach", "--runner-image", runnerImage); code != 2 || !strings.Contains(said, "no Job is needed") {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, _, said := kubectl(t, c, namespace, "rollout", "run", "cloneset/web", "--image", "main=registry.example.com/web:3", "--yes"); code != 1 || !strings.Contains(said, "controlled by Kruise Rollout web: step 1 of 2") {
		t.Errorf("run: exit %d\n%s", code, said)
	}
	if code, out, said := kubectl(t, c, namespace, "rollout", "approve", "cloneset/web"); code != 0 {
		t.Errorf("approve: exit %d\n%s\n%s", code, out, said)
	}
	if code, out, said := kubectl(t, c, namespace, "rollout", "status", "cloneset/web", "--watch=false"); code != 0 || !strings.Contains(out, "StepReady") {
		t.Errorf("status: exit %d\n%s\n%s", code, out, said)
	}
	code, out, said := kubectl(t, c, namespace, "rollout", "undo", "rollout/web", "--yes", "--timeout", "1s")
	if code != 4 || !strings.Contains(said, "Only the template is written here") {
		t.Errorf("undo: exit %d\n%s\n%s", code, out, said)
	}
	got, err := web.Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	text, err := got.MarshalJSON()
	must(t, err)
	if !strings.Contains(string(text), web1) || strings.Contains(string(text), `"image":"`+web2) || !strings.Contains(string(text), `"partition":"100%"`) {
		t.Errorf("%s", text)
	}
	stand("Healthy", "Completed", `, "conditions": [{"type": "Succeeded", "status": "False"}]`)
	if code, out, said := kubectl(t, c, namespace, "rollout", "status", "rollout/web", "--watch"); code != 3 || !strings.Contains(out, "rolled back") {
		t.Errorf("status --watch: exit %d\n%s\n%s", code, out, said)
	}
}
