package compare

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/sidecar"
)

// reach is which sets go into the pods of each workload.
type reach map[resource.ID][]string

// sidecars compares which SidecarSets reach which workloads.
func (c *comparison) sidecars() {
	if len(c.old.facts.All(kruise.Group, kruise.KindSidecarSet))+len(c.now.facts.All(kruise.Group, kruise.KindSidecarSet)) == 0 {
		return
	}
	was, is := c.old.reach(), c.now.reach()
	had, has := c.old.receivers(was), c.now.receivers(is)
	for _, r := range c.now.facts.Stream(kruise.Group, kruise.KindSidecarSet) {
		if ch := c.byID[c.now.facts.IDOf(r)]; ch != nil {
			ch.Reach = c.reached(had[r.Name()], has[r.Name()])
			c.addUpgrade(ch, c.old.byID[c.now.facts.IDOf(r)], r)
		}
	}
	for _, r := range c.old.facts.Stream(kruise.Group, kruise.KindSidecarSet) {
		if ch := c.byID[c.old.facts.IDOf(r)]; ch != nil && ch.Verb == Removed {
			ch.Reach = c.reached(had[r.Name()], has[r.Name()])
			ch.add(Warning, "", "pods that have its containers keep them until they are recreated; new pods come without")
		}
	}
	// A set that is the same on both sides reaches others by their labels or those of their namespace.
	for _, carrier := range c.now.carriers {
		if _, both := c.old.at[carrier.id]; !both || c.now.byID[carrier.id] == nil {
			continue
		}
		c.reachOthers(carrier, is[carrier.id], was[carrier.id], "pods created from now on get the containers of SidecarSet ")
		c.reachOthers(carrier, was[carrier.id], is[carrier.id], "pods created from now on come without the containers of SidecarSet ")
	}
}

// reach asks which sets go where.
func (s *side) reach() reach {
	out := reach{}
	list := make([]*resource.Resource, 0, len(s.carriers))
	for _, c := range s.carriers {
		list = append(list, c.r)
	}
	for _, m := range sidecar.Matches(newContext(s.stage.Running, s.facts, s.stage.Kruise), slices.Compact(list)) {
		id := m.Template
		if id.Namespace == "" {
			id.Namespace = s.facts.Namespace()
		}
		if m.Injected && !slices.Contains(out[id], m.SidecarSet) {
			out[id] = append(out[id], m.SidecarSet)
		}
	}
	return out
}

// receivers are the workloads of each set, in their order and each once.
func (s *side) receivers(of reach) map[string][]carrier {
	out := map[string][]carrier{}
	seen := map[resource.ID]bool{}
	for _, carrier := range s.carriers {
		if seen[carrier.id] {
			continue
		}
		seen[carrier.id] = true
		for _, set := range of[carrier.id] {
			out[set] = append(out[set], carrier)
		}
	}
	return out
}

// reached are the workloads of one set on either side.
func (c *comparison) reached(had, has []carrier) []Reached {
	var out []Reached
	before, after := ids(had), ids(has)
	for _, carrier := range has {
		verb := Added
		if before[carrier.id] {
			verb = Changed
		}
		out = append(out, Reached{Verb: verb, Workload: carrier.id, Pods: carrier.pods})
	}
	for _, carrier := range had {
		if !after[carrier.id] {
			out = append(out, Reached{Verb: Removed, Workload: carrier.id, Pods: carrier.pods})
		}
	}
	return out
}

func ids(list []carrier) map[resource.ID]bool {
	out := make(map[resource.ID]bool, len(list))
	for _, c := range list {
		out[c.id] = true
	}
	return out
}

// addUpgrade reports what a change of a set does to the pods that have its containers.
func (c *comparison) addUpgrade(ch *Change, old, now *resource.Resource) {
	if old == nil || ch.Verb != Changed {
		return
	}
	before, after := ch.read(old, now)
	if after == nil {
		return
	}
	r, asked, err := c.planChange(ch, before, after, podsOf(ch.Reach), podsOf(ch.Reach))
	if err != nil {
		ch.refuse(err)
		return
	}
	ch.Rollout = r
	if r.Mode == rules.ModeUnchanged && slices.ContainsFunc(asked, func(f rules.FieldChange) bool { return f.Effect == rules.EffectNewPods }) {
		ch.add(Note, "", "only pods created from now on get it")
	}
	if reaches(ch.Reach, Added) {
		ch.add(Warning, "spec.selector", "it reaches other workloads now: their pods get its containers when they are recreated")
	}
	if reaches(ch.Reach, Removed) {
		ch.add(Warning, "spec.selector", "it does not reach workloads any more: their pods lose its containers when they are recreated")
	}
}

func reaches(list []Reached, verb Verb) bool {
	return slices.ContainsFunc(list, func(w Reached) bool { return w.Verb == verb })
}

// sidecarFields are what the fields of a set ask for.
func sidecarFields(p pair) []rules.FieldChange {
	old, now := new(Change).read(p.old, p.now)
	if now == nil {
		return nil // reported elsewhere
	}
	return rules.SidecarSetEligible(old.Template, now.Template).Fields
}

// podsOf is how many pods have a set's containers, -1 when that is not known.
func podsOf(list []Reached) int {
	n := 0
	for _, r := range list {
		switch {
		case r.Verb != Changed:
		case r.Pods < 0:
			return -1
		default:
			n += r.Pods
		}
	}
	return n
}

func (c *comparison) reachOthers(carrier carrier, have, other []string, text string) {
	for _, set := range have {
		ch := c.byID[resource.ID{Group: kruise.Group, Kind: kruise.KindSidecarSet, Namespace: c.now.facts.Namespace(), Name: set}]
		if slices.Contains(other, set) || ch != nil && (ch.Verb == Added || ch.Verb == Removed || ch.Verb == Changed) {
			continue
		}
		c.affected(carrier.r).add(Warning, "", text+set)
	}
}
