package story

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestWorkloads_GetPods: the controllers of Kruise and of Kubernetes make pods that become ready, and what belongs to a
// workload goes with it.
func TestWorkloads_GetPods(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	c.Apply(t, "default", `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec: &spec
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: main, image: "registry.example.com/api:1"}]}
`)
	c.Await(t, "five ready pods", func() bool { return len(c.Ready(t, "default")) == 5 })
	for _, path := range [][]string{{"clonesets", "apps.kruise.io", "v1beta1", "web"}, {"deployments", "apps", "v1", "api"}} {
		resource := schema.GroupVersionResource{Resource: path[0], Group: path[1], Version: path[2]}
		ready := func() bool {
			n, _, _ := unstructured.NestedInt64(c.Get(t, resource, "default", path[3]).Object, "status", "readyReplicas")
			return n > 1
		}
		c.Await(t, path[0]+" report them", ready)
		c.Delete(t, resource, "default", path[3])
	}
	c.Await(t, "no pod", func() bool { return len(c.Pods(t, "default")) == 0 })
}
