package compare

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
)

// part is the workload of one subset.
type part struct {
	name string
	r    *resource.Resource
}

// subsets compares the workloads that a UnitedDeployment is made of, one by one:
// replicas are allotted and patches merged as Kruise would.
func (c *comparison) subsets(ch *Change, old, now *resource.Resource) {
	was, is := c.old.parts(old), c.now.parts(now)
	if podsIn(was) > 0 && podsIn(is) == 0 {
		ch.add(Loss, "spec.replicas", "no pod is left")
	}
	for _, p := range is {
		before := find(was, p.name)
		if before == nil {
			ch.Subsets = append(ch.Subsets, Subset{Verb: Added, Name: p.name, Workload: p.r.ID(), To: wantedReplicas(p.r)})
			continue
		}
		c.subset(ch, p.name, before, p.r)
	}
	for _, p := range was {
		if find(is, p.name) != nil {
			continue
		}
		ch.Subsets = append(ch.Subsets, Subset{Verb: Removed, Name: p.name, Workload: p.r.ID(), From: wantedReplicas(p.r)})
		c.deletionEffects(ch, p.r, "subset "+p.name+": ")
	}
}

func podsIn(list []part) int {
	n := 0
	for _, p := range list {
		n += max(wantedReplicas(p.r), 0)
	}
	return n
}

func find(list []part, name string) *resource.Resource {
	for _, p := range list {
		if p.name == name {
			return p.r
		}
	}
	return nil
}

// parts are the workloads of a UnitedDeployment; none when it cannot be split,
// which package check has the words for.
func (s *side) parts(r *resource.Resource) []part {
	if r == nil || !s.isAccepted(r) {
		return nil
	}
	made, err := split.Run(newContext(s.stage.Running, s.facts, s.stage.Kruise), []*resource.Resource{s.read(r)})
	if err != nil {
		return nil
	}
	var out []part
	for _, w := range made {
		name := cmp.Or(w.Label(kruise.SubsetNameLabel), tree.StrAt(w.Node(), "spec", "template", "metadata", "labels", kruise.SubsetNameLabel))
		out = append(out, part{name, w})
	}
	return out
}

// read is an object as the release reads it.
func (s *side) read(r *resource.Resource) *resource.Resource {
	if n := s.stage.Kruise.Read(r.Node()).Object; n != r.Node() {
		return resource.Derived(n, r)
	}
	return r
}

// isAccepted reports whether an object is one that Kruise would take, were it alone:
// stages expect nothing else.
func (s *side) isAccepted(r *resource.Resource) bool {
	alone := newContext(s.stage.Running, resource.NewFacts([]*resource.Resource{r}, nil, s.facts.Namespace()), s.stage.Kruise)
	return !slices.ContainsFunc(check.Object(alone, check.Request{Object: r}), func(f check.Fault) bool { return !f.OfRelease })
}

// subset compares one subset that is on both sides.
func (c *comparison) subset(ch *Change, name string, old, now *resource.Resource) {
	s := Subset{Verb: Changed, Name: name, Workload: now.ID(), From: wantedReplicas(old), To: wantedReplicas(now)}
	before, after := ch.read(old, now)
	if after == nil {
		return
	}
	own := &Change{}
	var asked []rules.FieldChange
	var err error
	if s.Rollout, asked, err = c.planChange(own, before, after, s.From, s.To); err != nil {
		own.refuse(err)
	}
	for _, e := range own.Effects {
		e.Text = "subset " + name + ": " + e.Text
		ch.Effects = append(ch.Effects, e)
	}
	if s.Rollout == nil {
		return
	}
	var list []Field
	for _, f := range asked {
		list = append(list, Field{Path: "spec.template." + f.Path, Effect: f.Effect})
	}
	s.Rollout.because(list)
	if s.From != s.To || s.Rollout.Mode != rules.ModeUnchanged {
		ch.Subsets = append(ch.Subsets, s)
	}
}

// spreads compares how many pods each subset of a WorkloadSpread takes, also where
// only its target has got another number.
func (c *comparison) spreads() {
	for _, r := range c.now.facts.Stream(kruise.Group, kruise.KindWorkloadSpread) {
		old := c.old.byID[c.now.facts.IDOf(r)]
		if old == nil {
			continue
		}
		was, is := c.old.limits(old), c.now.limits(r)
		var list []Subset
		for _, s := range is {
			switch i := indexOf(was, s.Name); {
			case i < 0:
				list = append(list, Subset{Verb: Added, Name: s.Name, To: s.To})
			case was[i].To != s.To:
				list = append(list, Subset{Verb: Changed, Name: s.Name, From: was[i].To, To: s.To})
			}
		}
		for _, s := range was {
			if indexOf(is, s.Name) < 0 {
				list = append(list, Subset{Verb: Removed, Name: s.Name, From: s.To})
			}
		}
		if len(list) > 0 {
			c.affected(r).Subsets = list
		}
	}
}

func indexOf(list []Subset, name string) int {
	for i, s := range list {
		if s.Name == name {
			return i
		}
	}
	return -1
}

// limits are the subsets with how many pods each may have in To: -1 is no limit,
// or one that is a share of an unknown number. A percentage is of the target's
// replicas, rounded up (docs/kruise/distribution.md#workloadspread).
func (s *side) limits(r *resource.Resource) []Subset {
	var spread kruise.WorkloadSpread
	if _, err := kruise.Decode(r.Node(), &spread); err != nil {
		return nil
	}
	replicas := -1
	if ref := spread.Spec.TargetReference; ref != nil {
		id := resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: s.facts.NamespaceOf(r), Name: ref.Name}
		if i, ok := s.at[id]; ok {
			replicas = s.carriers[i].pods
		}
	}
	var out []Subset
	for _, sub := range spread.Spec.Subsets {
		out = append(out, Subset{Name: sub.Name, To: limitOf(sub.MaxReplicas, replicas)})
	}
	return out
}

func limitOf(v *intstr.IntOrString, replicas int) int {
	if v == nil || v.Type == intstr.String && replicas < 0 {
		return -1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, max(replicas, 0), true)
	if err != nil {
		return -1
	}
	return n
}
