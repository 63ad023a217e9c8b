package controller

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// scale brings the number of pods closer to what it shall be, and reports whether
// it wrote anything: the update then waits (docs/kruise/workloads.md#one-reconcile, steps 2 to
// 6).
func (s *cloneSet) scale(claims []*cluster.Claim) bool {
	scale := s.rule.Scale()
	s.why(scale.Why)
	for _, p := range scale.Undo {
		s.enter(p, rules.StatePreparingNormal)
	}
	if n := scale.CreateOld + scale.CreateNew; n > 0 {
		s.create(scale, freeIDs(claims, s.view.Pods, n))
	}
	if scale.Held > 0 {
		s.pass.act(Event{Type: "Warning", Reason: "ScaleUpLimited", Message: scale.Why})
	}
	for _, p := range scale.Delete {
		s.remove(p, claims)
	}
	return scale.Acts()
}

func (s *cloneSet) enter(p *cluster.Pod, to rules.LifecycleState) {
	var c cluster.PodChange
	enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c})
}

// create makes pods, those at the current revision first. Instance ids of lost
// pods whose claims are there are used again.
func (s *cloneSet) create(scale rules.CloneSetScale, ids []string) {
	for i := range scale.CreateOld + scale.CreateNew {
		revision := s.update
		if i < scale.CreateOld {
			revision = s.current
		}
		s.pass.act(s.newPod(revision, ids, i))
	}
}

// newPod is the i-th of the pods that are made (docs/kruise/workloads.md#revisions and
// docs/kruise/workloads.md#creation-ondelete-pause).
func (s *cloneSet) newPod(revision string, ids []string, i int) CreatePod {
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
	return pod
}

// remove takes a pod and its claims away, once no preDelete hook holds it.
func (s *cloneSet) remove(p *cluster.Pod, claims []*cluster.Claim) {
	to, gone := rules.StateToDelete(p, s.Spec.Lifecycle)
	if !gone {
		s.enter(p, to)
		return
	}
	s.pass.act(DeletePod{Pod: p})
	s.event("SuccessfulDelete", "succeed to delete pod "+p.Name)
	for _, c := range claims {
		if id := instanceID(c.Labels); id != "" && id == instanceID(p.Labels) {
			s.pass.act(ChangeClaim{Claim: c, Delete: true})
		}
	}
}

func instanceID(labels map[string]string) string { return labels[kruise.CloneSetInstanceIDLabel] }
