package kruise_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestDefaultRecreate: ports are kept only for a hook that may name them.
func TestDefaultRecreate(t *testing.T) {
	var pod corev1.Pod
	if _, err := tree.Decode(parse(t, `
metadata: {uid: u}
spec:
  nodeName: n
  terminationGracePeriodSeconds: 7
  containers:
  - {name: app, ports: [{name: http, containerPort: 80}], lifecycle: {preStop: {httpGet: {port: http}}}}
  - {name: side, ports: [{containerPort: 81}], lifecycle: {preStop: {exec: {command: [x]}}}}
  - {name: plain, ports: [{containerPort: 82}]}
status: {containerStatuses: [{name: app, containerID: "x://1", restartCount: 3}]}
`), &pod); err != nil {
		t.Fatal(err)
	}
	var got kruise.ContainerRecreateRequest
	if _, err := kruise.Decode(parse(t, "{spec: {podName: p, containers: [{name: app}, {name: side}, {name: plain}]}}"), &got); err != nil {
		t.Fatal(err)
	}
	kruise.DefaultRecreate(&got, &pod)
	want := tree.Value(parse(t, `
metadata: {labels: {crr.apps.kruise.io/active: "true", crr.apps.kruise.io/node-name: n, crr.apps.kruise.io/pod-uid: u}}
spec:
  podName: p
  strategy: {failurePolicy: Fail, terminationGracePeriodSeconds: 7}
  containers:
  - {name: app, preStop: {httpGet: {port: http}}, ports: [{name: http, containerPort: 80}], statusContext: {containerID: "x://1", restartCount: 3}}
  - {name: side, preStop: {exec: {command: [x]}}}
  - {name: plain}
`))
	if diff := cmp.Diff(want, tree.Value(tree.FromValue(&got))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestRecreateOn: only virtual nodes are told apart.
func TestRecreateOn(t *testing.T) {
	for _, labels := range []map[string]string{nil, {"type": "large"}, {"type": "virtual-kubelet", "zone": "a"}} {
		var got kruise.ContainerRecreateRequest
		kruise.RecreateOn(&got, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}})
		if virtual := labels["type"] == "virtual-kubelet"; virtual != (got.Labels["type"] != "") || len(got.Labels) > 1 {
			t.Errorf("node %v: %v", labels, got.Labels)
		}
	}
}
