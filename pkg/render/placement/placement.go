// Package placement is the stage that brings pods back to where they were: what
// Kruise's webhook would put into pods by the state that PersistentPodStates
// recorded (docs/kruise/distribution.md#persistentpodstate) goes into the pod template, or, where
// pods differ, into a ConfigMap from which a MutatingAdmissionPolicy takes it.
// It looks at workloads as the other stages left them.
package placement

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Kind is the kind that is expanded, and the name of the expansion.
const Kind = kruise.KindPersistentPodState

// Run expands PersistentPodStates, those that annotations ask for included.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(Kind) {
		return in, nil
	}
	found, err := gather(c, in)
	if err != nil || len(found) == 0 {
		return in, err
	}
	there := byID(c, in)
	behind := map[*resource.Resource][]*resource.Resource{}
	for _, s := range found {
		made, err := s.expand()
		if err != nil {
			return nil, err
		}
		behind[s.place] = append(behind[s.place], made...)
	}
	var out []*resource.Resource
	for _, r := range in {
		if !r.Is(kruise.Group, Kind) {
			out = append(out, r)
		}
		for _, made := range behind[r] {
			if there[c.Facts.IDOf(made)] == nil {
				out = append(out, made)
			}
		}
	}
	return out, nil
}

// expand returns the objects that keep the pods of one PersistentPodState in
// their places, and changes the pod template where that does it.
func (s *state) expand() ([]*resource.Resource, error) {
	if s.split {
		s.report("persistentpodstate/split", "spec.targetRef")
		return nil, nil
	}
	known, err := s.known()
	if err != nil {
		return nil, err
	}
	s.reportSpec()
	pods := s.placements(known)
	version := policy.APIVersion(s.c)
	switch template := s.template(pods); {
	case len(pods) == 0:
		s.reportTopology("persistentpodstate/nothing-recorded")
	case template != nil:
		s.fill(template, pods)
	case version != "":
		s.reportPolicy()
		return s.policyObjects(version, known), nil
	default:
		s.reportTopology("persistentpodstate/older")
	}
	return nil, nil
}
