package controller

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// scale brings the number of pods closer to what it should be, and reports whether
// it wrote anything: the update then waits (docs/kruise/workloads.md#one-reconcile, steps 2 to
// 6).
func (s *cloneSet) scale() bool {
	scale := s.rule.Scale()
	s.setMessage(scale.Why)
	for _, p := range scale.Undo {
		s.enter(p, rules.StatePreparingNormal)
	}
	if n := scale.CreateOld + scale.CreateNew; n > 0 {
		// Make pods, those at the current revision first. Instance ids of lost pods whose claims are there are used again.
		ids := s.freeIDs(n)
		for i := range scale.CreateOld + scale.CreateNew {
			revision := s.update
			if i < scale.CreateOld {
				revision = s.current
			}
			// The i-th of the pods that are made (docs/kruise/workloads.md#revisions and
			// docs/kruise/workloads.md#creation-ondelete-pause).
			w := s.view.Workload
			pod := CreatePod{
				Prefix: w.Name + "-", IDLabels: []string{kruise.CloneSetInstanceIDLabel}, Revision: revision,
				Labels: map[string]string{
					appsv1.ControllerRevisionHashLabelKey:  revision,
					appsv1.DefaultDeploymentUniqueLabelKey: cluster.Hash(revision),
					kruise.LifecycleStateLabel:             string(rules.StatePreparingNormal),
				},
				Annotations: map[string]string{kruise.LifecycleTimestampAnnotation: stamp(s.view.Now)},
				Gates:       []string{kruise.InPlaceUpdateReady},
			}
			id := ""
			if i < len(ids) {
				id = ids[i]
				pod.Name, pod.IDLabels = w.Name+"-"+id, nil
				pod.Labels[kruise.CloneSetInstanceIDLabel] = id
			}
			pod.Claims = s.newClaims(id)
			s.pass.act(pod)
		}
	}
	if scale.Held > 0 {
		s.pass.act(Event{Type: "Warning", Reason: "ScaleUpLimited", Message: scale.Why})
	}
	for _, p := range scale.Delete {
		s.remove(p)
	}
	return scale.Acts()
}

func (s *cloneSet) enter(p *cluster.Pod, to rules.LifecycleState) {
	var c cluster.PodChange
	enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c})
}

// remove takes a pod and its claims away, once no preDelete hook holds it.
func (s *cloneSet) remove(p *cluster.Pod) {
	to, gone := rules.StateToDelete(p, s.Spec.Lifecycle)
	if !gone {
		s.enter(p, to)
		return
	}
	s.pass.act(DeletePod{Pod: p})
	s.event("SuccessfulDelete", "succeed to delete pod "+p.Name)
	for _, c := range s.claimsOf(p) {
		s.pass.act(ChangeClaim{Claim: c, Delete: true})
	}
}

// newClaims are the claims of a new pod; without an id their names end where the
// random part belongs.
func (s *cloneSet) newClaims(id string) []cluster.Claim {
	var out []cluster.Claim
	w := s.view.Workload
	for i := range s.Spec.VolumeClaimTemplates {
		t := &s.Spec.VolumeClaimTemplates[i]
		labels := maps.Clone(t.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		if s.Spec.Selector != nil {
			maps.Copy(labels, s.Spec.Selector.MatchLabels)
		}
		if id != "" {
			labels[kruise.CloneSetInstanceIDLabel] = id
		}
		out = append(out, cluster.Claim{
			Namespace: w.Namespace, Name: t.Name + "-" + w.Name + "-" + id, Labels: labels,
			Owner: cluster.Owner{Kind: w.Kind, Name: w.Name, UID: w.UID},
		})
	}
	return out
}

// OwnClaimsHash returns revisions that a cluster has stored as this controller would
// have: a store keeps the hash of claim templates in a way of its own. That of the
// newest is taken for the hash of the present templates (docs/kruise/workloads.md#revisions).
func OwnClaimsHash(o *kruise.CloneSet, stored []cluster.Revision) []cluster.Revision {
	if len(o.Spec.VolumeClaimTemplates) == 0 || len(stored) == 0 {
		return stored
	}
	newest := slices.MaxFunc(stored, func(a, b cluster.Revision) int { return cmp.Compare(a.Number, b.Number) }).ClaimsHash
	out := slices.Clone(stored)
	for i := range out {
		if newest != "" && out[i].ClaimsHash == newest {
			out[i].ClaimsHash = hashOf(o.Spec.VolumeClaimTemplates)
		}
	}
	return out
}

// hashOf distinguishes claim templates.
func hashOf(templates any) string {
	h := fnv.New32()
	_, _ = h.Write(encoded(templates))
	return strconv.FormatUint(uint64(h.Sum32()), 10)
}
