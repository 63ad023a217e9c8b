package rollout

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// kinds are the kinds of workloads, by every driver that each can have.
var kinds = map[string]struct {
	workload workload
	driver   plan.Driver
	steps    []string
}{
	"CloneSet":             {kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}"), plan.DriverKruise, []string{"1", "50%", "100%"}},
	"Advanced StatefulSet": {kruiseKind("StatefulSet", "statefulsets", "serviceName: web"), plan.DriverKruise, []string{"1", "100%"}},
	"Advanced DaemonSet":   {kruiseKind("DaemonSet", "daemonsets", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"), plan.DriverKruise, []string{"1", "100%"}},
	"Deployment":           {nativeKind("Deployment", "deployments", "strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}"), plan.DriverNative, []string{"50%", "100%"}},
	"StatefulSet":          {nativeKind("StatefulSet", "statefulsets", "serviceName: web"), plan.DriverNative, []string{"1", "100%"}},
	"DaemonSet":            {nativeKind("DaemonSet", "daemonsets", ""), plan.DriverNative, nil},
	"ReplicaSet":           {nativeKind("ReplicaSet", "replicasets", ""), plan.DriverClient, []string{"1", "100%"}},
	"StatefulSet OnDelete": {nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  updateStrategy: {type: OnDelete}"), plan.DriverClient, []string{"1", "100%"}},
	"DaemonSet OnDelete":   {nativeKind("DaemonSet", "daemonsets", "updateStrategy: {type: OnDelete}"), plan.DriverClient, []string{"1", "100%"}},
}

// TestKinds rolls every kind of workload out, by every driver that it can have.
func TestKinds(t *testing.T) {
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			before := len(b.pods(t))
			k := b.open(t)
			p := b.plan(t, k, plan.Policy{Driver: c.driver, Steps: steps(t, c.steps...), Pull: plan.PullNever})
			res := b.run(t.Context(), t, k, p, apply.Options{})
			if res.Outcome != event.Completed {
				t.Errorf("%s: %s", res.Outcome, res.Reason)
			}
			if pods := b.pods(t); running(pods, web2) != before {
				t.Errorf("%d of %d pods run the new image", running(pods, web2), before)
			}
		})
	}
}

// TestGrows: a rollout that also makes its workload bigger is done when every pod is
// ready, the last one too, however long that takes.
func TestGrows(t *testing.T) {
	for name, c := range kinds {
		if !strings.Contains(c.workload.text, "replicas: 4") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			k := b.open(t)
			p := b.planOf(t, k, plan.Policy{Driver: c.driver, Steps: steps(t, "100%"), Pull: plan.PullNever}, func(w *cluster.Workload) {
				reflect.ValueOf(w.Object).Elem().FieldByName("Spec").FieldByName("Replicas").Set(reflect.ValueOf(new(int32(6))))
			})
			if last := p.Steps[len(p.Steps)-1]; last.Kind != plan.StepScale || last.Updated != 6 {
				t.Errorf("the last step is %s: %d updated", last.Name, last.Updated)
			}
			res := b.run(t.Context(), t, k, p, apply.Options{})
			if pods := b.pods(t); res.Outcome != event.Completed || len(pods) != 6 || running(pods, web2) != 6 {
				t.Errorf("%s %s: %d of %d pods run the new image", res.Outcome, res.Reason, running(pods, web2), len(pods))
			}
		})
	}
}
