package plan

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Consequence is what a decision of a person does to a workload, in numbers: what is said
// in a question before the decision is carried out.
type Consequence struct {
	// Transition is what the decision comes to, such as retry for a toggle of a halted
	// rollout; empty where no rollout is recorded.
	Transition Transition
	// Step is the name of the step that the decision is about, At its number from 1 on
	// and Steps how many there are.
	Step      string
	At, Steps int
	// Pods is how many pods change, Updated how many of Total have the new revision then, and
	// Next how many of them once the next step that changes pods is done.
	Pods, Updated, Total, Next int
	// From and To are revisions, Images what they differ in.
	From, To string
	Images   []ImageChange
	// Was and Becomes are the values of a field that is set; empty for other decisions.
	Was, Becomes string
}

// ImageChange is an image that another takes the place of.
type ImageChange struct{ From, To string }

// ConsequenceOf is the consequence of a transition of the rollout of a plan.
func ConsequenceOf(t Transition, p Plan, at Progress) Consequence {
	c := changed(p)
	c.Transition, c.Steps = t, len(p.Steps)
	if len(p.Steps) == 0 {
		return c
	}
	i := max(0, min(at.Step, len(p.Steps)-1))
	c.Step, c.At = p.Steps[i].Name, i+1
	c.Updated = p.Steps[i].Updated
	if t == TransitionPromote {
		before := c.Updated
		c.Next, c.Updated = untilPause(p.Steps, i+1, before)
		c.Pods = max(c.Updated-before, 0)
	}
	return c
}

// ConsequenceOfPlan is the consequence of carrying a plan out from its beginning.
func ConsequenceOfPlan(p Plan, t Transition) Consequence {
	c := changed(p)
	c.Transition, c.Steps = t, len(p.Steps)
	seen := map[string]bool{}
	for _, s := range p.Steps {
		for _, pod := range s.Pods {
			seen[pod.Name] = true
		}
		c.Updated = s.Updated
	}
	c.Pods = len(seen)
	return c
}

func changed(p Plan) Consequence {
	c := Consequence{Total: p.Limits.Replicas, From: p.Change.FromRevision, To: p.Change.ToRevision}
	for _, f := range p.Change.Fields {
		from, _ := f.Old.(string)
		if to, ok := f.New.(string); ok && f.Effect == rules.EffectImage {
			c.Images = append(c.Images, ImageChange{from, to})
		}
	}
	return c
}

// untilPause is how many pods are updated after the next step that changes some, and when
// the next pause begins that waits, or the last step ends.
func untilPause(steps []Step, from, updated int) (next, all int) {
	next, all = updated, updated
	for _, s := range steps[min(from, len(steps)):] {
		if s.Kind == StepPause {
			break
		}
		if next == updated {
			next = max(next, s.Updated)
		}
		all = max(all, s.Updated)
	}
	return next, all
}
