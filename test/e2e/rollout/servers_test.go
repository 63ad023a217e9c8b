package rollout

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// TestServers_FailUnderRollouts has the cluster itself break under rollouts of every driver, each time while
// all of them take a step: the API server restarts, etcd crashes, Kubernetes' controllers
// stop and a node is lost until it is back.
func TestServers_FailUnderRollouts(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.WithAudit(), testcluster.WithNodeGrace(4*time.Second), kruise.API(), standin.Controllers())
	var list []*history
	var ended []<-chan apply.Result
	for i, kind := range []string{"CloneSet", "ReplicaSet", "StatefulSet"} {
		h := historyIn(t, c, c.Namespace(t), uint64(i), kind)
		h.weather = proxy.Weather{}
		h.policy.Steps = steps(t, "1", "2", "3", "100%")
		for i := range h.policy.Steps[:3] {
			h.policy.Steps[i].Pause = &plan.Pause{}
		}
		t.Cleanup(func() { h.tellIfFailed(t) })
		list, ended = append(list, h), append(ended, h.background(t))
	}
	for _, breaks := range []func(*testing.T, *testcluster.Cluster) error{
		restarting(testcluster.APIServer, false), restarting(testcluster.Etcd, true), controllersAndNode,
	} {
		for _, h := range list {
			h.awaitPause(t)
			must(t, h.change(t.Context(), func(r *plan.Record) { r.Progress.Promoted = true }))
		}
		must(t, breaks(t, c))
	}
	for i, h := range list {
		if res := <-ended[i]; res.Outcome != event.Completed {
			t.Errorf("%s: %s: %s", h.kind, res.Outcome, res.Reason)
			continue
		}
		h.outcome(t)
	}
}

func restarting(name testcluster.Component, crash bool) func(*testing.T, *testcluster.Cluster) error {
	return func(t *testing.T, c *testcluster.Cluster) error {
		t.Helper()
		return c.Restart(t.Context(), name, crash)
	}
}

// controllersAndNode has Kubernetes' controllers crash, and loses a node until its pods
// are not ready.
func controllersAndNode(t *testing.T, c *testcluster.Cluster) error {
	t.Helper()
	if err := c.Restart(t.Context(), testcluster.ControllerManager, true); err != nil {
		return err
	}
	c.Nodes.Lose("node-1")
	_, err := testcluster.Await(t.Context(), c.Client().CoreV1().Nodes(), "node-1", func(_ watch.EventType, n *corev1.Node) bool {
		return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
		})
	})
	return errors.Join(err, c.Nodes.Recover(t.Context(), "node-1"))
}
