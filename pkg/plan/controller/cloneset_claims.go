package controller

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// instanceClaims are the claims of a pass by instance ID. IDs are numbers, of which 0 is none.
type instanceClaims struct {
	numbers cluster.Numbers
	// ids are those of the claims of the view: 0 for one that the CloneSet does not own, or that is being deleted.
	ids []int
	// taken are the IDs that an active pod has.
	taken []bool
}

// claimsOwnedBy is the question for the IDs of claims; the answer depends on the owner's uid.
type claimsOwnedBy struct{ uid string }

// readClaims tells which claims have an active pod.
func (s *cloneSet) readClaims() {
	if len(s.view.Claims) == 0 {
		return
	}
	s.claims.numbers = cluster.NumbersIn(s.view.Answers)
	owner := claimsOwnedBy{s.view.Workload.UID}
	s.claims.ids = cluster.Each(s.view.Answers, owner, s.view.Claims, func(c *cluster.Claim) int {
		if c.Deleting || c.Owner.UID != owner.uid {
			return 0
		}
		return s.claims.numbers.Of(instanceID(c.Labels))
	})
	active := cluster.Each(s.view.Answers, "instance IDs of active pods", s.view.Pods, func(p *cluster.Pod) int {
		if !rules.Active(p) {
			return 0
		}
		return s.claims.numbers.Of(instanceID(p.Labels))
	})
	s.claims.taken = make([]bool, len(s.claims.numbers)+1)
	for _, id := range active {
		s.claims.taken[id] = true
	}
	s.claims.taken[0] = true
}

// lostClaims are the claims that no active pod has, by name.
func (s *cloneSet) lostClaims() []*cluster.Claim {
	var out []*cluster.Claim
	for i, id := range s.claims.ids {
		if !s.claims.taken[id] {
			out = append(out, s.view.Claims[i])
		}
	}
	return out
}

// tidyClaims has the claims go that lost their pod, unless they are used again: a terminating or
// finished pod takes its own along (docs/kruise/workloads.md#named-pods-and-claims).
func (s *cloneSet) tidyClaims() {
	if s.Spec.ScaleStrategy.EnablePVCReuse {
		return
	}
	for _, c := range s.lostClaims() {
		if p := s.leaving(instanceID(c.Labels)); p != nil {
			s.pass.act(ChangeClaim{Claim: c, Owner: &cluster.Owner{Kind: "Pod", Name: p.Name, UID: p.UID}})
		} else {
			s.pass.act(ChangeClaim{Claim: c, Delete: true})
		}
	}
}

// leaving is the last pod with an ID that is not active, nil for none.
func (s *cloneSet) leaving(id string) *cluster.Pod {
	for _, p := range slices.Backward(s.view.Pods) {
		if !rules.Active(p) && instanceID(p.Labels) == id {
			return p
		}
	}
	return nil
}

// freeIDs returns up to n instance IDs of claims whose pod is lost and that are used again, in
// order. A pod that still terminates counts as lost, and keeps its name from being used (recorded
// in 061).
func (s *cloneSet) freeIDs(n int) []string {
	if !s.Spec.ScaleStrategy.EnablePVCReuse {
		return nil
	}
	var ids []string
	for _, c := range s.lostClaims() {
		ids = append(ids, instanceID(c.Labels))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(n, len(ids))]
}

// claimsOf are the claims that go with an active pod, by name.
func (s *cloneSet) claimsOf(p *cluster.Pod) []*cluster.Claim {
	of := s.claims.numbers[instanceID(p.Labels)]
	if of == 0 {
		return nil
	}
	var out []*cluster.Claim
	for i, id := range s.claims.ids {
		if id == of {
			out = append(out, s.view.Claims[i])
		}
	}
	return out
}

func instanceID(labels map[string]string) string { return labels[kruise.CloneSetInstanceIDLabel] }
