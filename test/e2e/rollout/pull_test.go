package rollout

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// pullPlan is a plan with nothing but a step that pulls.
func (b *bed) pullPlan(t *testing.T, c *kube.Cluster, image string) plan.Plan {
	t.Helper()
	s, err := c.Observe(t.Context(), b.object.Ref)
	must(t, err)
	desired, err := plan.WithTemplate(s.Workload, b.read(t, strings.ReplaceAll(b.text, web1, image)).Template)
	must(t, err)
	p, err := plan.Build(desired, s, plan.Policy{Pull: plan.PullFirst, Parallel: 2})
	must(t, err)
	p.Steps = p.Steps[:1]
	must(t, c.Begin(t.Context(), b.object.Ref, p))
	return p
}

// TestPull_ByJobsWithoutKruise pulls by Jobs.
func TestPull_ByJobsWithoutKruise(t *testing.T) {
	t.Parallel()
	c, namespace := withoutKruise(t)
	w := nativeKind("ReplicaSet", "replicasets", "")
	b := &bed{Cluster: c, namespace: namespace, text: w.text}
	c.Apply(t, namespace, w.text)
	b.object = kube.Object{Ref: cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: namespace, Name: "web"}, Resource: w.resource}
	await(t, c, namespace, 4)
	k := b.open(t)
	p := b.pullPlan(t, k, web2)
	nodes := map[string]bool{}
	for _, pod := range b.pods(t) {
		nodes[pod.Spec.NodeName] = true
	}
	if res := b.run(t.Context(), t, k, p, apply.Options{}); res.Outcome != event.Completed {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
	jobs, err := c.Client().BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(jobs.Items) != len(nodes) {
		t.Errorf("%d Jobs for %d nodes", len(jobs.Items), len(nodes))
	}
	for i := range jobs.Items {
		onlyOn(t, &jobs.Items[i], nodes)
	}
}

func onlyOn(t *testing.T, job *batchv1.Job, nodes map[string]bool) {
	t.Helper()
	if node := job.Annotations["kubectl-kruise.dev/node"]; !nodes[node] || job.Status.Succeeded != 1 {
		t.Errorf("Job %s on %q: %+v", job.Name, node, job.Status)
	}
}
