package plan

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// missing is what does not hold yet of what must hold after a step.
func (r *rollout) missing(s *Step) []Blocker {
	var out []Blocker
	for _, c := range s.After {
		for _, b := range r.unmet(c) {
			if !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// unmet checks one condition. How many pods there are to be is read off the object: a user or an
// autoscaler may have scaled it since. Whether pods are updated and available is checked together with
// whether the controller has settled: its status has both.
func (r *rollout) unmet(c Condition) []Blocker {
	switch c.Type {
	case HoldsUpdatedAvailable:
		return blockers(r.availablePending(number(c.Value)))
	case HoldsSettled:
		return blockers(r.stepPending())
	case HoldsComplete:
		return blockers(r.rolloutPending())
	case HoldsPulled:
		return r.imagesToPull(number(c.Value))
	case HoldsReplicas:
		return blockers(rules.ReplicasPending(r.object().Object))
	case HoldsAvailable:
		return blockers(rules.AvailablePending(r.object().Object))
	}
	return nil // guarded fields were checked before
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

// availablePending is what a number of updated and available pods lacks, where the status has
// no such number of its own: of a Deployment, and of what the client updates.
func (r *rollout) availablePending(n int) rules.Pending {
	if r.plan.Driver == DriverClient {
		return r.pendingUpdates(n)
	}
	if o, ok := r.object().Object.(*appsv1.Deployment); ok {
		return rules.DeploymentStepPending(o, n)
	}
	return nil
}

// stepPending is what a step waits for.
func (r *rollout) stepPending() rules.Pending { return kindOf(r.object().Object).stepPending(r) }

// rolloutPending is what a whole rollout waits for.
func (r *rollout) rolloutPending() rules.Pending { return kindOf(r.object().Object).rolloutPending(r) }

// imagesToPull names the images that are not on this many nodes, or on all that pods are
// on now: there may be fewer pods than when the plan was made. Where pulling is over
// without a failure, the other nodes do not get the image.
func (r *rollout) imagesToPull(nodes int) []Blocker {
	pull := r.currentStep().Pull
	if pull == nil {
		return nil
	}
	nodes = min(nodes, nodesOf(r.snap.Members()))
	var out []Blocker
	for _, image := range pull.Images {
		state := r.snap.Pulls[image]
		if n := r.snap.Pulled[image]; n < nodes && (!state.Over || len(state.Troubles) > 0) {
			why := fmt.Sprintf("%s is on %d of %s", image, n, counted.Of(nodes, "node"))
			if len(state.Troubles) > 0 {
				why += fmt.Sprintf("; not yet on %s: %s", state.Troubles[0].Node, state.Troubles[0].Why)
			}
			out = append(out, Blocker{Gate: GatePull, Why: why})
		}
	}
	return out
}
