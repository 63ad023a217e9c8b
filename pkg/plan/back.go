package plan

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
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
		return Plan{}, &tree.Error{Msg: "the revision before this rollout is no longer stored", Hint: "apply the old manifest"}
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
		Driver: p.Driver, Drain: p.Drain, Grace: p.Grace, HookAnswer: p.HookAnswer, OnFailure: FailPause,
	})
	back.RollsBack = why
	return back, err
}

// WithTemplate returns the workload with another template: what a revision holds,
// as decoded JSON. Of a SidecarSet it is the fields that come into pods.
func WithTemplate(w *cluster.Workload, template map[string]any) (*cluster.Workload, error) {
	out := *w
	var err error
	out.Template, out.Object, err = kindOf(w.Object).withTemplate(w.Template, template)
	if err != nil {
		return nil, fmt.Errorf("the stored template of %s: %w", title(w.Ref), err)
	}
	return &out, nil
}

func decodedTemplate(template map[string]any) (t corev1.PodTemplateSpec, err error) {
	text, err := json.Marshal(template)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}
