package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Surge is what maxSurge makes of an update that is possible in place: the controller creates surge
// pods of the new revision and then deletes as many old ones, whatever the policy is
// (docs/kruise/workloads.md#how-many-pods).
type Surge struct {
	// Pods are how many pods the update reaches, Recreated how many of them surge pods replace.
	Pods, Recreated int
	// MaxSurge is as written, Claims are the claim templates whose claims go with the deleted pods.
	MaxSurge string
	Claims   []string
}

// String is a sentence; it is empty where no pod is recreated.
func (s Surge) String() string {
	if s.Recreated == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s %s recreated although the change is possible in place: with maxSurge %s new pods take the place of old ones", s.Recreated, counted.Of(s.Pods, "pod"), counted.Word(s.Recreated, "is", "are"), s.MaxSurge)
	if len(s.Claims) > 0 {
		text += ", which are deleted with " + counted.Of(s.Recreated*len(s.Claims), "claim") + " (" + strings.Join(s.Claims, ", ") + ")"
	}
	return text
}

// SurgeOf is what becomes of the pods of a workload where a run of a change, which is possible in
// place, touches so many that stay in number, and replaces some of them by surge pods.
func SurgeOf(desired *cluster.Workload, list []Touch) Surge {
	pods, replaced := 0, 0
	for _, t := range list {
		pods += boolToInt(t.Mode != rules.ModeDelete)
		replaced += boolToInt(t.Mode == rules.ModeRecreate && t.Surplus)
	}
	return surgeOf(desired, pods, replaced)
}

func surgeOf(desired *cluster.Workload, pods, replaced int) Surge {
	set, ok := desired.Object.(*kruise.CloneSet)
	if !ok {
		return Surge{}
	}
	s := Surge{Pods: pods, Recreated: replaced, Claims: rules.ClaimNames(set)}
	if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxSurge != nil {
		s.MaxSurge = r.MaxSurge.String()
	}
	return s
}

// Counts are how many pods the steps of a plan recreate, and how many stay.
func (p *Plan) Counts() (recreated, kept int) {
	for i := range p.Steps {
		for _, pod := range p.Steps[i].Pods {
			switch pod.Mode {
			case rules.ModeRecreate:
				recreated++
			case rules.ModeInPlace, rules.ModeMetadataOnly:
				kept++
			}
		}
	}
	return recreated, kept
}

// Reason is why pods change as they do. Where the change is possible in place, it counts the pods that
// the steps recreate nevertheless.
func (p *Plan) Reason() string {
	recreated, kept := p.Counts()
	if recreated == 0 || p.Change.Mode != rules.ModeInPlace && p.Change.Mode != rules.ModeMetadataOnly {
		return p.Change.Why
	}
	return fmt.Sprintf("%s, but %d of %s recreated", p.Change.Why, recreated, counted.PodsAre(recreated+kept))
}

// warnSurge reports which pods are recreated although the change is possible in place, and which
// way recreates fewer.
func (b *reviewer) warnSurge() {
	if m := b.plan.Change.Mode; m != rules.ModeInPlace && m != rules.ModeMetadataOnly {
		return
	}
	pods, replaced, stages := 0, 0, 0
	for i := range b.plan.Steps {
		stages += boolToInt(len(b.plan.Steps[i].Pods) > 0)
		for _, p := range b.plan.Steps[i].Pods {
			pods++
			replaced += boolToInt(p.Why == surplusReason)
		}
	}
	s := surgeOf(b.desired, pods, replaced)
	text := s.String()
	if text == "" {
		return
	}
	if stages > 1 && s.Recreated > b.subject.limits.MaxSurge {
		text += fmt.Sprintf("; each step surges again, so one step (--steps 100%%) recreates %d", min(b.subject.limits.MaxSurge, s.Pods))
	}
	b.warning("%s; with maxSurge 0 none is", text)
}
