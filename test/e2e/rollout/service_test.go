package rollout

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// hold is a label that must be removed before a pod may change.
const hold = "example.com/hold"

// labelled has the pods of a ReplicaSet carry a label.
func labelled(w workload, label string) workload {
	w.text = strings.Replace(w.text, "metadata: {labels: {app: web}}", `metadata: {labels: {app: web, `+label+`: "true"}}`, 1)
	return w
}

// TestOutOfService_WhileContainersChange: no container of a pod changes while the pod is in service, or held
// by a lifecycle hook; in the end all of them are back.
func TestOutOfService_WhileContainersChange(t *testing.T) {
	hooked := standIn(`{"rollingUpdate": {"podUpdatePolicy": "InPlaceOnly", "maxUnavailable": 2}}, "lifecycle": {"inPlaceUpdate": {"labelsHandler": {"` + hold + `": "true"}}}`)
	for name, c := range map[string]struct {
		workload workload
		label    string
		policy   plan.Policy
		carried  bool
	}{
		"a label of Services": {labelled(nativeKind("ReplicaSet", "replicasets", ""), kruise.InServiceLabel), kruise.InServiceLabel, plan.Policy{Grace: plan.Duration(2 * time.Second)}, false},
		"a hook":              {labelled(hooked, hold), hold, plan.Policy{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, namespace := withoutKruise(t)
			b := bedIn(t, cluster, namespace, c.workload)
			b.next = strings.ReplaceAll(b.text, web1, web2)
			c.policy.Driver, c.policy.Pull, c.policy.Steps = plan.DriverClient, plan.PullNever, steps(t, "1", "100%")
			changes := b.changes(t, c.label)
			k, build := b.open, b.plan
			if c.carried {
				k, build = b.carried, b.carriedPlan
			}
			driven := k(t)
			if res := b.run(t.Context(), t, driven, build(t, driven, c.policy), apply.Options{}); res.Outcome != event.Completed {
				t.Fatalf("%s: %s", res.Outcome, res.Reason)
			}
			for pod, with := range changes() {
				if with != "false" {
					t.Errorf("pod %s changed with the label %q", pod, with)
				}
			}
			for _, p := range b.pods(t) {
				if p.Labels[c.label] != "true" || !ready(&p, web2) {
					t.Errorf("pod %s: %v", p.Name, p.Labels)
				}
			}
		})
	}
}

// changes follows the pods of the bed, and lets those go that a hook holds, as
// the owner's controller does. The function that it returns says of each pod that has
// changed whether it had the label then.
func (b *bed) changes(t *testing.T, label string) func() map[string]string {
	t.Helper()
	var mu sync.Mutex
	out := map[string]string{}
	ctx, cancel := context.WithCancel(t.Context())
	pods := b.Client().CoreV1().Pods(b.namespace)
	var ended sync.WaitGroup
	ended.Go(func() {
		_, err := testcluster.Await(ctx, pods, "", func(_ watch.EventType, p *corev1.Pod) bool {
			mu.Lock()
			defer mu.Unlock()
			if _, seen := out[p.Name]; !seen && p.Spec.Containers[0].Image == web2 {
				out[p.Name] = fmt.Sprint(p.Labels[label] != "")
			}
			if let := hookAnswer(p); let != "" {
				if _, err := pods.Patch(ctx, p.Name, types.MergePatchType, []byte(let), metav1.PatchOptions{}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
			return false
		})
		if ctx.Err() == nil {
			t.Error(err)
		}
	})
	return func() map[string]string {
		cancel()
		ended.Wait()
		if len(out) != len(b.pods(t)) {
			t.Errorf("changed: %v", out)
		}
		return out
	}
}

// hookAnswer is the patch by which a hook lets a pod go, or takes it back; "" where it
// has nothing to say.
func hookAnswer(p *corev1.Pod) string {
	_, held := p.Labels[hold]
	switch state := p.Labels[kruise.LifecycleStateLabel]; {
	case state == "PreparingUpdate" && held:
		return `{"metadata": {"labels": {"` + hold + `": null}}}`
	case state == "Updated" && !held:
		return `{"metadata": {"labels": {"` + hold + `": "true"}}}`
	}
	return ""
}
