package plan_test

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestUpdatablePods_OfEachKind(t *testing.T) {
	for name, c := range map[string]struct {
		in           string
		reach, total int
		ok           bool
	}{
		"no partition":          {reaching("apps.kruise.io/v1beta1", "CloneSet", "{}"), 10, 10, true},
		"percentage":            {reaching("apps.kruise.io/v1beta1", "CloneSet", "{rollingUpdate: {partition: 35%}}"), 6, 10, true},
		"paused":                {reaching("apps.kruise.io/v1beta1", "CloneSet", "{rollingUpdate: {paused: true}}"), 0, 10, true},
		"nobody deletes":        {reaching("apps.kruise.io/v1beta1", "CloneSet", "{type: OnDelete}"), 0, 10, false},
		"more than there are":   {reaching("apps.kruise.io/v1beta1", "StatefulSet", "{rollingUpdate: {partition: 12}}"), 0, 10, true},
		"ordinals":              {reaching("apps/v1", "StatefulSet", "{rollingUpdate: {partition: 7}}"), 3, 10, true},
		"native, by hand":       {reaching("apps/v1", "StatefulSet", "{type: OnDelete}"), 0, 10, false},
		"no partition at all":   {reaching("apps/v1", "Deployment", ""), 10, 10, true},
		"updates no pod at all": {reaching("apps/v1", "ReplicaSet", ""), 0, 10, false},
	} {
		reach, total, ok := plan.UpdatablePods(read(t, c.in), cluster.DefaultGates())
		if reach != c.reach || total != c.total || ok != c.ok {
			t.Errorf("%s: %d of %d, %v; want %d of %d, %v", name, reach, total, ok, c.reach, c.total, c.ok)
		}
	}
}

func reaching(version, kind, strategy string) string {
	text := "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 10\n" +
		"  selector: {matchLabels: {app: web}}\n  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web}]}}\n"
	if strategy != "" {
		text += "  updateStrategy: " + strategy + "\n"
	}
	return text
}

// TestPreviewOf_UnderPartition: pods below the partition that carry the template count with
// those that the partition lets follow.
func TestPreviewOf_UnderPartition(t *testing.T) {
	s, before := begun(t, beta, "")
	s.Workload = read(t, before)
	if o, ok := plan.PreviewOf(s, time.Now()); !ok || o.Allowed != 5 || o.Total != 5 {
		t.Errorf("%+v", o)
	}
}

func TestCount_OfTheRollout(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{}))
	if got, want := plan.Count(p, s), (plan.Tally{Desired: 5, Total: 5, Ready: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	next := *desired
	next.UID = s.Workload.UID
	s.Workload = &next
	clone(&s).Status.UpdateRevision, clone(&s).Status.ObservedGeneration = "web-new", next.Generation
	gone := *s.Pods[4]
	gone.Deleting = true
	s.Pods[4] = &gone
	updatedPod(&s, 0)
	s.Pods[1].Labels["controller-revision-hash"] = "web-new"
	if got, want := plan.Count(p, s), (plan.Tally{Desired: 5, Total: 4, Ready: 3, Updated: 2, UpdatedReady: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
