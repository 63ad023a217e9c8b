package plan

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// revisionMark is the label that says which template a pod has. StatefulSets and
// DaemonSets set it themselves; a ReplicaSet knows nothing of revisions, so there
// the client puts it into the template, and new pods carry it as well as those that
// it updates.
const revisionMark = appsv1.ControllerRevisionHashLabelKey

// carried reads a native object whose pods the client updates: order and limits
// are those of the Kruise object that it stands for.
func (b *builder) carried() subject {
	b.plan.Drain, b.plan.Grace = b.drain(), b.grace()
	spec := source(b.snap, b.desired)
	if spec == nil {
		return subject{}
	}
	return spec.subject(b)
}

// source is the Kruise spec whose rules the client keeps: that of the object which
// the native one stands for, else what the native one comes to. It has the numbers
// of the native object, and neither partition, pause nor surge: steps take the
// place of the first two, and nobody could carry the third out.
func source(s Snapshot, native *cluster.Workload) kruiseSpec {
	return kindOf(native.Object).source(carried(s))
}

// carried is the Kruise object that the native one stands for; nil for none.
func carried(s Snapshot) any {
	if s.Carrier == nil || s.Workload == nil {
		return nil
	}
	return s.Workload.Object
}

// drain settles how pods leave their Services.
func (b *builder) drain() Drain {
	if b.policy.Drain != DrainAuto {
		return b.policy.Drain
	}
	if _, ok := templateLabels(b.desired)[kruise.InServiceLabel]; ok {
		return DrainLabel
	}
	return DrainNone
}

func templateLabels(w *cluster.Workload) map[string]any {
	meta, _ := w.Template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return labels
}

// grace is how long a pod is out of service before its containers change.
func (b *builder) grace() time.Duration {
	if b.policy.Grace > 0 {
		return b.policy.Grace
	}
	spec := source(b.snap, b.desired)
	if spec == nil || spec.inPlace() == nil {
		return 0
	}
	return time.Duration(spec.inPlace().GracePeriodSeconds) * time.Second
}

// checkCarried refuses what the client could never carry out.
func (b *builder) checkCarried() error {
	if b.plan.Driver != DriverClient || b.sub.limits.MaxUnavailable > 0 || b.sub.total == 0 {
		return nil
	}
	return &tree.Error{
		Path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
		Msg:  "maxUnavailable comes to 0 pods, and there is no surge without Kruise: no pod could ever be updated",
		Hint: "let at least one pod be unavailable",
	}
}

// marked is a ReplicaSet whose template names the revision.
func marked(w *cluster.Workload, revision string) *cluster.Workload {
	o, ok := w.Object.(*appsv1.ReplicaSet)
	if !ok {
		return w
	}
	out, rs := *w, *o
	rs.Spec.Template.Labels = map[string]string{revisionMark: revision}
	for k, v := range o.Spec.Template.Labels {
		if k != revisionMark {
			rs.Spec.Template.Labels[k] = v
		}
	}
	out.Object = &rs
	return &out
}

// clientSteps makes the steps that change named pods, after the template has been
// written: no controller follows it by itself.
func (b *builder) clientSteps(rungs []rung) {
	kind, verb := StepInPlace, "update in place"
	if b.plan.Change.Mode == rules.ModeRecreate {
		kind, verb = StepRecreate, "recreate"
	}
	for i, r := range rungs {
		n := r.updated - b.reached()
		b.add(Step{
			Name: "step-" + r.To.String(), Kind: kind,
			Title: fmt.Sprintf("%s %s: %d of %d", verb, plural(n, "pod"), r.updated, b.sub.total),
			Pods:  b.sub.take(n), Updated: r.updated, Kept: b.sub.total - r.updated,
			Before: []Condition{{HoldsTemplate, b.plan.Change.ToHash}},
			After:  []Condition{{HoldsTemplate, b.plan.Change.ToHash}, {HoldsUpdatedAvailable, itoa(r.updated)}},
		})
		b.afterRung(r, i == len(rungs)-1)
	}
}

// sameImages reports whether the containers of a pod ask for the images of a
// template.
func sameImages(p *cluster.Pod, template *corev1.PodTemplateSpec) bool {
	for i := range template.Spec.Containers {
		c := &template.Spec.Containers[i]
		if have, ok := p.Container(c.Name); !ok || have.Image != c.Image {
			return false
		}
	}
	return true
}
