package simulate

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// placeIn is a subset of a WorkloadSpread.
type placeIn struct {
	spread cluster.Ref
	subset int
}

// spreadOut has the WorkloadSpread over an object choose a subset for the pod that
// an action makes, and returns what makes pods of that subset.
func (w *World) spreadOut(o *object, made *blueprint, a *controller.CreatePod) (*blueprint, error) {
	s := w.spreadOver(o)
	if s == nil {
		return made, nil
	}
	r, ok := w.spreadRules(s)
	if !ok {
		return made, nil
	}
	labels := tree.Strings(tree.Get(tree.FromValue(made.template), "metadata", "labels"))
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, a.Labels)
	choice := r.Choose(&cluster.Pod{Name: a.Name, Labels: labels})
	if choice.Subset == spread.None {
		return made, nil
	}
	if choice.Status != nil {
		s.spread.Status = *choice.Status
		w.after(spreadExpiry, func() { w.reconcileSpread(s) })
	}
	m := spread.Match{Spread: s.ref.Name, Subset: r.Spec.Subsets[choice.Subset].Name}
	out, err := made.in(s, choice.Subset, m)
	if choice.Counted && a.Name == "" && len(a.IDLabels) == 0 {
		m.UID = w.id() // a CloneSet names its pods by itself
	}
	a.Annotations = maps.Clone(a.Annotations)
	if a.Annotations == nil {
		a.Annotations = map[string]string{}
	}
	a.Annotations[kruise.MatchedWorkloadSpreadAnnotation] = m.String()
	return out, err
}

// in is the blueprint of the pods of a subset.
func (b *blueprint) in(s *spreading, subset int, m spread.Match) (*blueprint, error) {
	key := placeIn{s.ref, subset}
	if found := b.subsets[key]; found != nil {
		return found, nil
	}
	pod, err := spread.Inject(tree.FromValue(b.template), s.subsets[subset], m)
	if err != nil {
		return nil, err
	}
	template, _ := tree.Value(pod).(map[string]any)
	out := &blueprint{Mould: b.admission.Mould(template), template: template, admission: b.admission}
	if b.subsets == nil {
		b.subsets = map[placeIn]*blueprint{}
	}
	b.subsets[key] = out
	return out, nil
}

// spreadWrites carries out what a WorkloadSpread's controller does to pods, as far
// as they are still there.
func (w *World) spreadWrites(s *spreading, actions []controller.Action) {
	if w.spreadNamed(s.ref) != s {
		return
	}
	for _, a := range actions {
		var e *pod
		switch a := a.(type) {
		case controller.PatchPod:
			if e = w.pods[a.Pod.UID]; e != nil && !e.Deleting {
				w.rec.writes++
				w.change(e, a.Change, "")
			}
		case controller.DeletePod:
			if e = w.pods[a.Pod.UID]; e != nil {
				_ = w.deletePod(e, "no node for it in its subset") // a budget that refuses is asked again
			}
		}
	}
}

// whole is a pod's metadata and spec as far as they are known: those that were
// there before have no spec.
func (w *World) whole(p *cluster.Pod) *tree.Node {
	out := tree.Map("metadata", tree.Map("labels", texts(p.Labels), "annotations", texts(p.Annotations)))
	if e := w.pods[p.UID]; e != nil && e.made != nil {
		tree.Set(out, "spec", tree.FromValue(e.made.template["spec"]))
	}
	return out
}

func texts(m map[string]string) *tree.Node {
	out := tree.Map()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		tree.Set(out, k, tree.String(m[k]))
	}
	return out
}
