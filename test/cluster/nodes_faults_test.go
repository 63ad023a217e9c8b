package cluster_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func TestFaults_FollowTheScript(t *testing.T) {
	t.Parallel()
	c, namespace := cluster.Shared(t)
	tests := []struct {
		name, metadata, spec string
		image                string
		holds                func(*corev1.Pod) bool
	}{
		{name: "never-ready", metadata: `annotations: {lab.test/unready: "*"}`, holds: func(p *corev1.Pod) bool {
			return p.Status.Phase == corev1.PodRunning && !status(p).Ready && *status(p).Started
		}},
		{name: "crashes-twice", metadata: `annotations: {lab.test/crash-start: "2"}`, holds: func(p *corev1.Pod) bool {
			return ready(p) && status(p).RestartCount == 2 && status(p).LastTerminationState.Terminated.ExitCode == 1
		}},
		{name: "slow-pull", metadata: `annotations: {lab.test/pull: 3s}`, image: "registry.example.com/slow:1", holds: func(p *corev1.Pod) bool {
			// The API tells whole seconds.
			return ready(p) && status(p).State.Running.StartedAt.Sub(p.Status.StartTime.Time) >= 2*time.Second
		}},
		{name: "no-such-image", image: "bad.lab/app:1", holds: func(p *corev1.Pod) bool {
			w := status(p).State.Waiting
			return w != nil && w.Reason == "ImagePullBackOff"
		}},
		{name: "never-pulled", spec: "restartPolicy: Never", image: `registry.example.com/absent:1", imagePullPolicy: "Never`, holds: func(p *corev1.Pod) bool {
			w := status(p).State.Waiting
			return w != nil && w.Reason == "ErrImageNeverPull"
		}},
		{name: "late", metadata: `annotations: {lab.test/ready-delay: 3s}`, holds: func(p *corev1.Pod) bool {
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
					return c.LastTransitionTime.Sub(status(p).State.Running.StartedAt.Time) >= 2*time.Second
				}
			}
			return false
		}},
		{name: "fails", metadata: `annotations: {lab.test/run: 100ms, lab.test/exit-code: "3"}`, spec: "restartPolicy: Never", holds: func(p *corev1.Pod) bool {
			return p.Status.Phase == corev1.PodFailed && status(p).State.Terminated.ExitCode == 3
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			document := pod(test.name, test.metadata, test.spec)
			if test.image != "" {
				document = strings.ReplaceAll(document, "registry.example.com/app:1", test.image)
			}
			c.Apply(t, namespace, document)
			awaitPod(t, c, namespace, test.name, test.holds)
		})
	}
}

func TestNode_LostIsNotReady(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.WithNodeGrace(2*time.Second))
	c.Apply(t, "default", pod("web", "", `nodeName: node-1`)+"---"+pod("asked", "", `nodeName: node-1`))
	awaitPod(t, c, "default", "web", ready)
	awaitPod(t, c, "default", "asked", ready)
	c.Nodes.Lose("node-1")
	awaitPod(t, c, "default", "web", func(p *corev1.Pod) bool { return !ready(p) })
	node := func(want corev1.ConditionStatus) {
		t.Helper()
		_, err := cluster.Await(t.Context(), c.Client().CoreV1().Nodes(), "node-1", func(_ watch.EventType, n *corev1.Node) bool {
			for _, cond := range n.Status.Conditions {
				if cond.Type == corev1.NodeReady {
					return cond.Status == want
				}
			}
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	node(corev1.ConditionUnknown)
	// What is asked of a lost node happens once it is back.
	if err := c.Client().CoreV1().Pods("default").Delete(t.Context(), "asked", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Nodes.Recover(t.Context(), "node-1"); err != nil {
		t.Fatal(err)
	}
	node(corev1.ConditionTrue)
	awaitPod(t, c, "default", "web", ready)
	awaitGone(t, c, "default", "asked")
}

// TestDeletion_KeepsTheGracePeriod: what takes too long to end is cut short by the grace period of
// the deletion.
func TestDeletion_KeepsTheGracePeriod(t *testing.T) {
	t.Parallel()
	c, namespace := cluster.Shared(t)
	pods := c.Client().CoreV1().Pods(namespace)
	document := strings.Replace(pod("web", `annotations: {lab.test/stop: 1h}`, ""), "GracePeriodSeconds: 1", "GracePeriodSeconds: 3600", 1)
	c.Apply(t, namespace, document)
	awaitPod(t, c, namespace, "web", ready)
	if err := pods.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := pods.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || *p.DeletionGracePeriodSeconds != 3600 || status(p).State.Running == nil {
		t.Fatalf("a pod that takes an hour to end: %v, %v", p, err)
	}
	if err := pods.Delete(t.Context(), "web", metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, namespace, "web")
}

// TestNodes_AreAddedAndRemoved: a node added later takes pods, one removed is gone for good.
func TestNodes_AreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t)
	if err := c.Nodes.Add(t.Context(), node.Spec{Name: "late", Zone: "zone-d", Labels: map[string]string{"late": "true"}}); err != nil {
		t.Fatal(err)
	}
	c.Apply(t, "default", pod("web", "", `nodeSelector: {late: "true", topology.kubernetes.io/zone: zone-d}`))
	awaitPod(t, c, "default", "web", ready)
	if err := c.Nodes.Remove(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.AwaitGone(t.Context(), c.Client().CoreV1().Nodes(), "late", &corev1.Node{}); err != nil {
		t.Fatal(err)
	}
}
