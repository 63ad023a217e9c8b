package controller

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// reconcileSidecarSet makes one pass (docs/kruise/sidecarset.md#selection).
// The PodUnavailableBudgets are not asked here: the webhook does that, so that a
// refused pod ends the pass.
func reconcileSidecarSet(v *View, o *kruise.SidecarSet) (Pass, error) {
	var pass Pass
	revision := v.syncSidecarRevision(&pass, o)
	set := SidecarSetRules(v.Workload, o, v.Gates.Release)
	set.Revision, set.Namespaces, set.Pods = revision, v.Namespaces, v.Pods
	set.Brief, set.Answers = true, v.Answers
	status, update := set.Round()
	status.ObservedGeneration, status.LatestRevision = v.Workload.Generation, set.Revision
	status.CollisionCount = new(or(o.Status.CollisionCount, 0))
	pass.Status = changed(&o.Status, &status)
	m := sidecarPass{v: v, set: set, pass: &pass}
	err := m.update(update)
	return pass, err
}

// sidecarPass is one pass over the pods.
type sidecarPass struct {
	v    *View
	set  *rules.SidecarSet
	pass *Pass
	// content is what patchPodMetadata is read from; nil without any.
	content *inject.Content
}

func (m *sidecarPass) update(update rules.SidecarSetUpdate) error {
	m.pass.Why = update.Why
	for _, p := range update.Flip {
		patch, err := m.set.Flip(p, m.v.Now)
		if err != nil {
			return err
		}
		m.patch(p, patch)
	}
	strategy := m.set.Spec.UpdateStrategy
	if len(update.Flip) > 0 || strategy.Paused || strategy.Type == kruise.NotUpdateSidecarSetStrategyType {
		return nil
	}
	// Mark pods that only recreation can bring up to date.
	for _, p := range update.Refuse {
		m.upgradable(p, false)
	}
	if len(update.Refuse) > 0 {
		m.pass.act(Event{Type: corev1.EventTypeNormal, Reason: "NotUpgradablePods", Message: fmt.Sprintf(
			"SidecarSet in-place update detected %d not upgradable pod(s) in this round, will skip them.", update.NotUpgradable)})
	}
	return m.upgrade(update.Pods)
}

func (m *sidecarPass) upgrade(list []*cluster.Pod) error {
	if len(list) > 0 && len(m.set.Spec.PatchPodMetadata) > 0 {
		compiled, err := inject.Compile(sidecarSetNode(m.v.Workload), nil)
		if err != nil {
			return err
		}
		m.content = compiled.Current()
	}
	for _, p := range list {
		patch, err := m.set.Upgrade(p, m.v.Now)
		if err != nil {
			return err
		}
		if m.content != nil {
			if err := m.metadata(p, &patch); err != nil {
				return err
			}
		}
		m.patch(p, patch)
		m.upgradable(p, true)
	}
	return nil
}

// metadata adds what patchPodMetadata changes.
func (m *sidecarPass) metadata(p *cluster.Pod, patch *rules.SidecarPatch) error {
	after, err := m.content.PatchMetadata(joined(p.Annotations, patch.Annotations))
	if err != nil {
		return err
	}
	for key, v := range after {
		if p.Annotations[key] != v {
			patch.Annotations[key] = v
		}
	}
	return nil
}

func (m *sidecarPass) patch(p *cluster.Pod, patch rules.SidecarPatch) {
	annotations := make(map[string]*string, len(patch.Annotations))
	for key, v := range patch.Annotations {
		annotations[key] = &v
	}
	m.pass.act(PatchPod{Pod: p, Change: cluster.PodChange{Images: patch.Images, Annotations: annotations}})
}

// upgradable writes the condition that all SidecarSets of the pod share, after
// the upgrade itself.
func (m *sidecarPass) upgradable(p *cluster.Pod, yes bool) {
	if want, other := m.set.UpgradableCondition(p, yes); other {
		m.pass.act(PatchPod{Pod: p, Change: cluster.PodChange{Conditions: []cluster.Condition{want}}})
	}
}

// customVersion is stored beside them, as a label in a cluster.
const customVersion = "customVersion"

// syncSidecarRevision is [View.syncRevision] for a SidecarSet; it returns the
// name of the present revision, and drops the oldest beyond the limit.
func (v *View) syncSidecarRevision(pass *Pass, o *kruise.SidecarSet) string {
	w, only := *v.Workload, *v
	w.Template, only.Workload = revised(v.Workload.Template), &w
	only.Revisions = slices.Clone(v.Revisions)
	for i := range only.Revisions {
		only.Revisions[i].Template = revised(only.Revisions[i].Template)
	}
	update, all := only.syncRevision(pass, or(o.Status.CollisionCount, 0), "")
	for i, a := range pass.Actions {
		if store, ok := a.(StoreRevision); ok {
			out := revised(store.Revision.Template)
			if version, ok := v.Workload.Template[customVersion]; ok {
				out[customVersion] = version
			}
			store.Revision.Template = out
			pass.Actions[i] = store
		}
	}
	only.Pods = nil
	only.dropRevisions(pass, all, o.Spec.RevisionHistoryLimit, update.Name)
	return update.Name
}

// revised cuts a spec down to what revisions are made of; what is missing is
// null, as in the stored JSON.
func revised(spec map[string]any) map[string]any {
	fields := rules.SidecarSetFields()
	out := make(map[string]any, len(fields))
	for _, field := range fields {
		out[field] = spec[field]
	}
	return out
}

// StoredSidecarSet returns the SidecarSet as the webhook stores it: with the two
// hashes of its containers (docs/kruise/sidecarset.md#hashes). Another
// kind comes back as it is.
func StoredSidecarSet(w *cluster.Workload) (*cluster.Workload, error) {
	if _, ok := w.Object.(*kruise.SidecarSet); !ok {
		return w, nil
	}
	full, withoutImage, err := inject.Hashes(tree.FromValue(w.Template))
	if err != nil {
		return nil, err
	}
	out := *w
	out.Annotations = joined(w.Annotations, map[string]string{
		kruise.SidecarSetHashAnnotation: full, kruise.SidecarSetHashWithoutImageAnnotation: withoutImage,
	})
	return &out, nil
}

// SidecarSetRules is the set as the rules of a release of Kruise see it, without pods and
// namespaces.
func SidecarSetRules(w *cluster.Workload, o *kruise.SidecarSet, release kruise.Release) *rules.SidecarSet {
	return &rules.SidecarSet{
		Name: w.Name, Spec: &o.Spec, ResourceVersion: o.ResourceVersion, Revision: o.Status.LatestRevision,
		Hash:             w.Annotations[kruise.SidecarSetHashAnnotation],
		HashWithoutImage: w.Annotations[kruise.SidecarSetHashWithoutImageAnnotation],
		RoundsDown:       release.RoundsSidecarSetsDown(),
	}
}

// injectedSets are the names of the sets that a pod got.
func injectedSets(p *cluster.Pod) []string {
	list := p.Annotations[kruise.SidecarSetInjectedListAnnotation]
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// WakesSidecarSet reports whether a change of a pod has the controller of a
// SidecarSet look again; a nil pod is one that is not there. Under NotUpdate
// only pods that come and go do (case 313), else also what changes readiness or
// what the node runs.
func WakesSidecarSet(o *kruise.SidecarSet, before, after *cluster.Pod) bool {
	switch {
	case before == nil || after == nil || before.Deleting != after.Deleting:
		return true
	case o.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType:
		return false
	}
	return standing(before) != standing(after) || !sameRunning(before.Containers, after.Containers)
}

// standing is the readiness of a pod.
func standing(p *cluster.Pod) [2]string {
	ready, _ := p.Condition(string(corev1.PodReady))
	return [2]string{string(p.Phase), string(ready.Status)}
}

func sameRunning(a, b []cluster.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Ready != b[i].Ready || a[i].StatusImage != b[i].StatusImage || a[i].ImageID != b[i].ImageID {
			return false
		}
	}
	return true
}
