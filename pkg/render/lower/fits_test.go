package lower_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// nodesGiven are one of two CPUs, one with a device, a bare one and a virtual one.
const nodesGiven = `
{apiVersion: v1, kind: Node, metadata: {name: cpu}, status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: gpu}, status: {allocatable: {cpu: "64", memory: 4Gi, pods: "110", example.com/gpu: "1"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: unknown}}
---
{apiVersion: v1, kind: Node, metadata: {name: virtual, labels: {type: virtual-kubelet}}}
`

// onGiven returns the names of what an object becomes beside the nodes.
func onGiven(t *testing.T, object, further string) []string {
	t.Helper()
	in := golden.Parse(t, object)
	c := newContext(in, stage.Native)
	c.Facts = resource.NewFacts(in, golden.Parse(t, nodesGiven+further), "shop")
	out, err := lower.Run(c, in)
	if err != nil {
		t.Fatal(err)
	}
	return names(out)
}

// TestBroadcastJob_CountsRequestsAsTheScheduler: what a pod asks for is counted as the scheduler counts it.
func TestBroadcastJob_CountsRequestsAsTheScheduler(t *testing.T) {
	const everywhere = "cpu gpu unknown virtual"
	for _, c := range []struct{ name, spec, want string }{
		{"little", "containers: [{name: a, image: a, resources: {requests: {cpu: 2}}}]", everywhere},
		{"containers together", "containers: [{name: a, image: a, resources: {requests: {cpu: 1500m}}}, {name: b, image: b, resources: {requests: {cpu: 1}}}]", "gpu unknown virtual"},
		{"a native sidecar runs beside them", "initContainers: [{name: s, image: s, restartPolicy: Always, resources: {requests: {cpu: 1500m}}}], containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]", "gpu unknown virtual"},
		{"an init container does not", "initContainers: [{name: i, image: i, resources: {requests: {cpu: 1500m}}}], containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]", everywhere},
		{"but beside a native sidecar before it", "initContainers: [{name: s, image: s, restartPolicy: Always, resources: {requests: {cpu: 1}}}, {name: i, image: i, resources: {requests: {cpu: 1500m}}}], containers: [{name: a, image: a}]", "gpu unknown virtual"},
		{"overhead", "overhead: {cpu: 1500m}, containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]", "gpu unknown virtual"},
		{"a limit without a request", "containers: [{name: a, image: a, resources: {limits: {cpu: 3}}}]", "gpu unknown virtual"},
		{"a device that a node lacks", "containers: [{name: a, image: a, resources: {limits: {example.com/gpu: 1}}}]", "gpu unknown virtual"},
		{"none of a device", "containers: [{name: a, image: a, resources: {limits: {example.com/gpu: 0}}}]", everywhere},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := onGiven(t, "{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, metadata: {name: b, namespace: shop}, spec: {template: {spec: {restartPolicy: Never, "+c.spec+"}}}}", "")
			if want := jobsOn("b", c.want); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestImagePullJob_SkipsVirtualNodes: a virtual node has no NodeImage, and a pod that goes is no
// reason to pull for.
func TestImagePullJob_SkipsVirtualNodes(t *testing.T) {
	const pods = `
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: web}}, spec: {nodeName: gpu}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop, labels: {app: web}, deletionTimestamp: "2026-07-01T00:00:00Z"}, spec: {nodeName: cpu}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: shop, labels: {app: web}}, spec: {nodeName: virtual}}
`
	for _, c := range []struct{ name, spec, want string }{
		{"all", "", "cpu gpu unknown"},
		{"by name", ", selector: {names: [virtual, gpu]}", "gpu"},
		{"by label", ", selector: {matchLabels: {type: virtual-kubelet}}", ""},
		{"by an empty selector", ", selector: {}", "cpu gpu unknown"},
		{"by pods", ", podSelector: {matchLabels: {app: web}}", "gpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := onGiven(t, `{apiVersion: apps.kruise.io/v1beta1, kind: ImagePullJob, metadata: {name: p, namespace: shop}, spec: {image: "c:1"`+c.spec+"}}", pods)
			if want := jobsOn("p", c.want); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// jobsOn are the IDs of the Jobs of an object on nodes.
func jobsOn(name, nodes string) []string {
	var out []string
	for node := range strings.FieldsSeq(nodes) {
		out = append(out, "Job shop/"+name+"-"+node)
	}
	return out
}
