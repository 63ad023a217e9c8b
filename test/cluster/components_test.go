package cluster_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// TestComponents_StopAndCatchUp: without controllers nothing follows from an object,
// without the scheduler no pod finds a node, and both catch up.
func TestComponents_StopAndCatchUp(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t)
	for _, name := range []cluster.Component{cluster.ControllerManager, cluster.Scheduler} {
		if err := c.Stop(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	c.Apply(t, "default", deployment("web", 2)+"---"+pod("alone", "", ""))
	if err := c.Resume(t.Context(), cluster.ControllerManager); err != nil {
		t.Fatal(err)
	}
	awaitPods(t, c, 3)
	for _, p := range pods(t, c, "default") {
		if p.Spec.NodeName != "" {
			t.Errorf("%s is on %s without a scheduler", p.Name, p.Spec.NodeName)
		}
	}
	if err := c.Resume(t.Context(), cluster.ControllerManager); err == nil {
		t.Error("a second process of a component that runs")
	}
	if err := c.Resume(t.Context(), cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, c, "default", "web")
	awaitPod(t, c, "default", "alone", ready)
}

// awaitPods waits until so many pods exist in namespace default.
func awaitPods(t *testing.T, c *cluster.Cluster, n int) {
	t.Helper()
	eventually(t, "the pods exist", func() bool {
		list, err := c.Client().CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == n
	})
}

// TestControllers_AreRestarted: a controller that ends by itself is started again, as a
// kubelet does, unless it ends again and again.
func TestControllers_AreRestarted(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t)
	crash(t, c, cluster.Scheduler)
	crash(t, c, cluster.ControllerManager)
	c.Apply(t, "default", deployment("web", 2))
	awaitReady(t, c, "default", "web")
	eventually(t, "it is given up", func() bool {
		crash(t, c, cluster.Scheduler)
		return c.Fault() != nil
	})
	if err := c.Stop(t.Context(), cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
}

// TestFault_NamesADeadComponent: a server that ends by itself is told of.
func TestFault_NamesADeadComponent(t *testing.T) {
	t.Parallel()
	c, err := cluster.New(t.Context(), cluster.WithNodes())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fault(); err != nil {
		t.Error(err)
	}
	crash(t, c, cluster.APIServer)
	eventually(t, "the fault is told", func() bool { return c.Fault() != nil })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
