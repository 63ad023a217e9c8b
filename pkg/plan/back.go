package plan

import (
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Back makes the plan that takes a rollout back: to the template that it started
// from, in one step within the budgets, in place where that is possible. Only pods
// that were updated are touched. why is what ended the rollout. It fails where nobody
// has kept that template.
func Back(p Plan, s Snapshot, why string) (Plan, error) {
	r := &run{plan: &p, snap: &s}
	present := r.object()
	template := s.Base
	if p.Change.FromHash == p.Change.ToHash { // what is on record is older than this rollout
		template = templateOf(present)
	}
	for _, revision := range s.Revisions {
		if TemplateHash(revision.Template) == p.Change.FromHash {
			template = revision.Template
		}
	}
	if template == nil {
		return Plan{}, &tree.Error{Msg: "the template before this rollout is not stored any more", Hint: "apply the old manifest"}
	}
	desired, err := WithTemplate(present, template)
	if err != nil {
		return Plan{}, err
	}
	// The stored template is in a record that others may be able to edit.
	if p.Change.FromHash != p.Change.ToHash && hashOf(desired) != p.Change.FromHash {
		return Plan{}, &tree.Error{Msg: "the template that is stored is not the one that the workload had before this rollout", Hint: "apply the old manifest"}
	}
	back, err := Build(desired, s, Policy{
		Steps:  []PolicyStep{{To: Amount{Value: 100, Percent: true}}},
		Pull:   PullNever, // the old image is where the old pods ran
		Driver: p.Driver, Drain: p.Drain, Grace: p.Grace, OnFailure: FailPause,
	})
	back.RollsBack = why
	return back, err
}

// WithTemplate returns the workload with another template: what a revision holds,
// as decoded JSON. Of a SidecarSet it is the fields that come into pods.
func WithTemplate(w *cluster.Workload, template map[string]any) (*cluster.Workload, error) {
	out := *w
	out.Template = template
	var err error
	switch o := w.Object.(type) {
	case *kruise.CloneSet:
		c := *o
		c.Spec.Template, err = decodedTemplate(template)
		out.Object = &c
	case *kruise.StatefulSet:
		c := *o
		c.Spec.Template, err = decodedTemplate(template)
		out.Object = &c
	case *kruise.DaemonSet:
		c := *o
		c.Spec.Template, err = decodedTemplate(template)
		out.Object = &c
	case *kruise.SidecarSet:
		out.Template, out.Object, err = withSidecars(w.Template, o, template)
	default:
		out.Object, err = nativeWithTemplate(w.Object, template)
	}
	if err != nil {
		return nil, fmt.Errorf("the stored template of %s: %w", title(w.Ref), err)
	}
	return &out, nil
}

func nativeWithTemplate(object any, template map[string]any) (any, error) {
	t, err := decodedTemplate(template)
	switch o := object.(type) {
	case *appsv1.Deployment:
		c := *o
		c.Spec.Template = t
		return &c, err
	case *appsv1.ReplicaSet:
		c := *o
		c.Spec.Template = t
		return &c, err
	case *appsv1.StatefulSet:
		c := *o
		c.Spec.Template = t
		return &c, err
	case *appsv1.DaemonSet:
		c := *o
		c.Spec.Template = t
		return &c, err
	}
	return nil, fmt.Errorf("%T has no template", object)
}

func decodedTemplate(template map[string]any) (t corev1.PodTemplateSpec, err error) {
	text, err := json.Marshal(template)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}

// withSidecars puts the fields that come into pods into the present spec.
func withSidecars(spec map[string]any, o *kruise.SidecarSet, stored map[string]any) (map[string]any, any, error) {
	out := maps.Clone(spec)
	for _, field := range rules.SidecarSetFields() {
		delete(out, field)
		if v, ok := stored[field]; ok && v != nil {
			out[field] = v
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, nil, err
	}
	c := *o
	c.Spec = kruise.SidecarSetSpec{}
	return out, &c, json.Unmarshal(text, &c.Spec)
}
