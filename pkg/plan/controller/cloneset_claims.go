package controller

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// InstanceSurvey is what the controller of a CloneSet remembers of the pods and claims of its last
// pass, by instance ID: it reads only those that came, changed or went since. The zero value
// remembers nothing.
type InstanceSurvey struct {
	// owner is the CloneSet whose claims are counted.
	owner string
	// podMark and claimMark are how far the records of changes were read.
	podMark   cluster.Mark[int]
	claimMark cluster.Mark[ClaimChange]
	// pods are those of the last pass, in their places.
	pods      []*cluster.Pod
	instances map[string]*instance
	// lost are the IDs of claims that no active pod has.
	lost map[string]bool
}

// instance is what has one instance ID.
type instance struct {
	// active counts its pods that are active, leaving are the places of the others.
	active  int
	leaving []int
	// claims are those that the CloneSet owns and that are not being deleted.
	claims []*cluster.Claim
}

// surveyInstances renews what is remembered of pods and claims, for this pass at least. Without
// claims there is nothing to remember.
func (s *cloneSet) surveyInstances() {
	if len(s.view.Claims) == 0 {
		return
	}
	s.instances = s.view.InstanceSurvey
	if s.instances == nil {
		s.instances = &InstanceSurvey{}
	}
	s.instances.renew(s.view)
}

// renew brings the survey up to the pods and claims of this pass. Where the records of changes do
// not say what changed since the last one, it reads all.
func (s *InstanceSurvey) renew(v *View) {
	places, known := s.podMark.Since(v.PodChanges)
	claims, claimsKnown := s.claimMark.Since(v.ClaimChanges)
	if !known || !claimsKnown || s.owner != v.Workload.UID {
		*s = InstanceSurvey{owner: v.Workload.UID, podMark: s.podMark, claimMark: s.claimMark, instances: map[string]*instance{}, lost: map[string]bool{}}
		s.pods = make([]*cluster.Pod, len(v.Pods))
		for i, p := range v.Pods {
			s.setPod(i, p)
		}
		for _, c := range v.Claims {
			s.addClaim(c)
		}
		return
	}
	for i := len(v.Pods); i < len(s.pods); i++ {
		s.setPod(i, nil)
	}
	s.pods = append(s.pods[:min(len(s.pods), len(v.Pods))], make([]*cluster.Pod, max(0, len(v.Pods)-len(s.pods)))...)
	for _, i := range places {
		if i < len(v.Pods) {
			s.setPod(i, v.Pods[i])
		}
	}
	for _, c := range claims {
		s.removeClaim(c.Before)
		s.addClaim(c.After)
	}
}

// setPod puts a pod, nil for none, in a place of the list.
func (s *InstanceSurvey) setPod(place int, p *cluster.Pod) {
	if before := s.pods[place]; before != nil && instanceID(before.Labels) != "" {
		id := instanceID(before.Labels)
		switch in := s.instance(id); {
		case rules.Active(before):
			in.active--
		default:
			in.leaving = slices.DeleteFunc(in.leaving, func(i int) bool { return i == place })
		}
		s.settle(id)
	}
	if s.pods[place] = p; p == nil || instanceID(p.Labels) == "" {
		return
	}
	id := instanceID(p.Labels)
	switch in := s.instance(id); {
	case rules.Active(p):
		in.active++
	default:
		in.leaving = append(in.leaving, place)
	}
	s.settle(id)
}

// owned reports whether a claim is counted: that of an ID, which the CloneSet owns.
func (s *InstanceSurvey) owned(c *cluster.Claim) bool {
	return c != nil && !c.Deleting && c.Owner.UID == s.owner && instanceID(c.Labels) != ""
}

func (s *InstanceSurvey) addClaim(c *cluster.Claim) {
	if s.owned(c) {
		id := instanceID(c.Labels)
		in := s.instance(id)
		in.claims = append(in.claims, c)
		s.settle(id)
	}
}

func (s *InstanceSurvey) removeClaim(c *cluster.Claim) {
	if s.owned(c) {
		id := instanceID(c.Labels)
		in := s.instance(id)
		in.claims = slices.DeleteFunc(in.claims, func(other *cluster.Claim) bool { return other.Name == c.Name })
		s.settle(id)
	}
}

func (s *InstanceSurvey) instance(id string) *instance {
	in := s.instances[id]
	if in == nil {
		in = &instance{}
		s.instances[id] = in
	}
	return in
}

// settle draws the conclusions from a change of what has an ID.
func (s *InstanceSurvey) settle(id string) {
	in := s.instances[id]
	if len(in.claims) > 0 && in.active == 0 {
		s.lost[id] = true
	} else {
		delete(s.lost, id)
	}
	if len(in.claims) == 0 && in.active == 0 && len(in.leaving) == 0 {
		delete(s.instances, id)
	}
}

// lostClaims are the claims that no active pod has, by name.
func (s *InstanceSurvey) lostClaims() []*cluster.Claim {
	var out []*cluster.Claim
	for id := range s.lost {
		out = append(out, s.instances[id].claims...)
	}
	slices.SortFunc(out, byClaimName)
	return out
}

func byClaimName(a, b *cluster.Claim) int { return cmp.Compare(a.Name, b.Name) }

// tidyClaims has the claims go that lost their pod, unless they are used again: a terminating or
// finished pod takes its own along (docs/kruise/workloads.md#named-pods-and-claims).
func (s *cloneSet) tidyClaims() {
	if s.instances == nil || s.Spec.ScaleStrategy.EnablePVCReuse {
		return
	}
	for _, c := range s.instances.lostClaims() {
		if leaving := s.instances.instances[instanceID(c.Labels)].leaving; len(leaving) > 0 {
			p := s.view.Pods[slices.Max(leaving)]
			s.pass.act(ChangeClaim{Claim: c, Owner: &cluster.Owner{Kind: "Pod", Name: p.Name, UID: p.UID}})
		} else {
			s.pass.act(ChangeClaim{Claim: c, Delete: true})
		}
	}
}

// freeIDs returns up to n instance IDs of claims whose pod is lost and that are used again, in
// order. A pod that still terminates counts as lost, and keeps its name from being used (recorded
// in 061).
func (s *cloneSet) freeIDs(n int) []string {
	if s.instances == nil || !s.Spec.ScaleStrategy.EnablePVCReuse {
		return nil
	}
	ids := slices.Sorted(maps.Keys(s.instances.lost))
	return ids[:min(n, len(ids))]
}

// claimsOf are the claims that go with an active pod, by name.
func (s *cloneSet) claimsOf(p *cluster.Pod) []*cluster.Claim {
	id := instanceID(p.Labels)
	if s.instances == nil || s.instances.instances[id] == nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(s.instances.instances[id].claims), byClaimName)
}

func instanceID(labels map[string]string) string { return labels[kruise.CloneSetInstanceIDLabel] }
