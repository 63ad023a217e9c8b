// Package placement is the stage that brings pods back to where they were: what
// Kruise's webhook would put into pods by the state that PersistentPodStates
// recorded (docs/kruise/distribution.md#persistentpodstate) goes into the pod template, or, where
// pods differ, into a ConfigMap from which a MutatingAdmissionPolicy takes it.
// It looks at workloads as the other stages left them.
package placement

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
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

// placements are what pods get, by name; pods that get nothing are left out.
func (s *state) placements(states map[string]kruise.PodState) map[string]Placement {
	out := map[string]Placement{}
	for pod, recorded := range states {
		if p, ok := Placed(&s.spec, recorded); ok {
			out[pod] = p
		}
	}
	return out
}

// template returns the workload's pod template where it can do the work for all
// pods: each that the workload wants has a state, and all states come to the
// same. A pod without a state must get nothing.
func (s *state) template(pods map[string]Placement) *stage.Template {
	first, replicas, reserved, ok := s.size()
	if !ok || s.workload == nil || replicas < 1 || replicas > len(pods) {
		return nil
	}
	var one *Placement
	for _, p := range pods {
		if one == nil {
			one = &p
		}
		if !one.Equal(p) {
			return nil
		}
	}
	for _, n := range rules.Ordinals(first, replicas, reserved) {
		if _, ok := pods[fmt.Sprintf("%s-%d", s.target.Name, n)]; !ok {
			return nil
		}
	}
	templates, _ := s.c.Templates(s.workload)
	if len(templates) != 1 {
		return nil
	}
	return &templates[0]
}

// fill puts the placement of all pods into the template, once.
func (s *state) fill(t *stage.Template, pods map[string]Placement) {
	s.reportTopology("persistentpodstate/template")
	s.report("persistentpodstate/recording", "")
	if tree.StrAt(t.Node, "metadata", "annotations", kruise.InjectedPersistentPodStateAnnotation) == s.name {
		return
	}
	for _, p := range pods {
		stage.Put(s.workload, t.Path, p.Put(t.Node, s.name))
		return
	}
}

// size reads how many pods the workload has, and which: as it is in the output,
// else in the cluster.
func (s *state) size() (first, replicas int, reserved []intstr.IntOrString, ok bool) {
	r := s.workload
	if r == nil {
		r = s.otherPlaces()
	}
	if r == nil {
		return 0, 0, nil, false
	}
	spec := tree.Get(r.Node(), "spec")
	start, _ := tree.Int(tree.Get(spec, "ordinals", "start"))
	replicas = 1
	if n, given := tree.Int(tree.Get(spec, "replicas")); given {
		replicas = int(n)
	}
	if _, err := tree.Decode(tree.Get(spec, "reserveOrdinals"), &reserved); err != nil {
		reserved = nil
	}
	return int(start), replicas, reserved, true
}

// otherPlaces is the workload among what exists, whatever it is by now.
func (s *state) otherPlaces() *resource.Resource {
	if r := s.c.Facts.Find(s.id(s.target)); r != nil {
		return r
	}
	return s.c.Facts.Find(s.id(stage.Target(s.spec.TargetRef)))
}
