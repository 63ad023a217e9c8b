package plan

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// missing is what does not hold yet of what must hold after a step.
func (r *run) missing(s *Step) []Blocker {
	var out []Blocker
	for _, c := range s.After {
		for _, b := range r.check(c) {
			if !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// check asks for one condition. Whether pods are updated and available is asked
// together with whether the controller has settled: its status says both.
func (r *run) check(c Condition) []Blocker {
	switch c.Type {
	case HoldsUpdatedAvailable:
		return blockers(r.available(number(c.Value)))
	case HoldsSettled:
		return blockers(r.stepPending())
	case HoldsComplete:
		return blockers(r.rolloutPending())
	case HoldsPulled:
		return r.unpulled(number(c.Value))
	case HoldsReplicas:
		return blockers(rules.ReplicasPending(r.scaled(c)))
	case HoldsAvailable:
		return blockers(rules.AvailablePending(r.scaled(c)))
	}
	return nil // what nobody else may change was looked at before
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func blockers(p rules.Pending) []Blocker {
	var out []Blocker
	for _, why := range p {
		out = append(out, Blocker{Gate: GateUpdated, Why: why})
	}
	return out
}

// available asks for so many updated pods that are available, where the status has
// no such number of its own: of a Deployment, and of what the client updates.
func (r *run) available(n int) rules.Pending {
	if r.plan.Driver == DriverClient {
		return r.clientPending(n)
	}
	if o, ok := r.object().Object.(*appsv1.Deployment); ok {
		return rules.DeploymentStepPending(o, n)
	}
	return nil
}

// stepPending is what a step waits for.
func (r *run) stepPending() rules.Pending { return kindOf(r.object().Object).stepPending(r) }

// rolloutPending is what a whole rollout waits for.
func (r *run) rolloutPending() rules.Pending { return kindOf(r.object().Object).rolloutPending(r) }

// scaled is the object as if it wanted the number of pods that a condition has.
func (r *run) scaled(c Condition) any { return withReplicas(r.object(), number(c.Value)).Object }

// updated is how many pods carry the new template, as the status has it.
func (r *run) updated() int {
	if o, ok := r.object().Object.(*appsv1.Deployment); ok && rules.Observed(o) {
		return int(o.Status.UpdatedReplicas)
	}
	return 0
}
