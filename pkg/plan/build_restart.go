package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Restarting is what a restart is about.
type Restarting struct {
	// Containers are names; none stands for all regular containers of each pod.
	Containers []string
	// Pods are names of those to restart; none stands for all of the workload.
	Pods []string
	// Method is empty for what the cluster can do.
	Method string
	RestartStrategy
}

// BuildRestart makes the plan that restarts containers inside the pods of a workload,
// in the order in which an update would take the pods, and no more at once than may
// be unavailable. The template stays as it is. Errors name the pod and the container
// that cannot be restarted.
func BuildRestart(s Snapshot, r Restarting, policy Policy) (Plan, error) {
	present := s.Object()
	b := &builder{desired: present, snap: s, policy: policy}
	if err := b.check(); err != nil {
		return Plan{}, err
	}
	if err := b.chooseDriver(); err != nil {
		return Plan{}, err
	}
	b.compare()
	b.plan.Change.Mode, b.plan.Change.Why = rules.ModeInPlace, "containers restart inside their pods"
	b.sub = b.subject()
	b.plan.Limits, b.plan.Drain, b.plan.Grace = b.sub.limits, "", 0
	pods, err := b.restarting(&r)
	if err != nil {
		return Plan{}, err
	}
	b.plan.Change.Restarts = r.Containers
	b.restartSteps(pods, r)
	if b.plan.Limits.MaxUnavailable == 0 && len(pods) > 0 {
		b.warning("maxUnavailable comes to 0 pods: they restart one at a time, and one is unavailable meanwhile")
	}
	return b.plan, nil
}

// restarting are the pods to restart, in order, and fills in their containers.
func (b *builder) restarting(r *Restarting) ([]*cluster.Pod, error) {
	pods, err := chosenPods(b.updateOrder(), r.Pods)
	if err != nil {
		return nil, err
	}
	if len(r.Containers) == 0 && b.present.Kind == kruise.KindSidecarSet {
		return nil, &tree.Error{Msg: "pods of a SidecarSet have containers of others, too", Hint: "name the sidecars with -c"}
	}
	if len(r.Containers) == 0 {
		r.Containers = commonContainers(pods)
	}
	var bad []string
	for _, p := range pods {
		for _, name := range r.Containers {
			if why := CannotRestart(p, name); why != "" {
				bad = append(bad, fmt.Sprintf("container %s of pod %s: %s", name, p.Name, why))
			}
		}
	}
	if len(bad) > 0 {
		return nil, &tree.Error{Msg: "these cannot be restarted: " + strings.Join(bad[:min(len(bad), named)], "; "), Hint: "name regular containers of running pods with -c, and pods one by one"}
	}
	return pods, nil
}

// chosenPods keeps those that are named, all when none is; what is being deleted
// needs no restart.
func chosenPods(list []*cluster.Pod, names []string) ([]*cluster.Pod, error) {
	var out []*cluster.Pod
	for _, p := range list {
		if rules.Active(p) && (len(names) == 0 || slices.Contains(names, p.Name)) {
			out = append(out, p)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(out, func(p *cluster.Pod) bool { return p.Name == name }) {
			return nil, &tree.Error{Msg: "the workload has no pod " + name, Hint: "kubectl get pods lists them"}
		}
	}
	return out, nil
}

// commonContainers are the regular containers that every pod has, in their order;
// injected ones are among them.
func commonContainers(pods []*cluster.Pod) []string {
	if len(pods) == 0 {
		return nil
	}
	var out []string
	for _, c := range pods[0].Containers {
		everywhere := true
		for _, p := range pods[1:] {
			_, has := p.Container(c.Name)
			everywhere = everywhere && has
		}
		if everywhere {
			out = append(out, c.Name)
		}
	}
	return out
}

// updateOrder is the order in which an update of all pods would take them.
func (b *builder) updateOrder() []*cluster.Pod {
	var list []*cluster.Pod
	if spec := kindOf(b.present.Object).restarted(carried(b.snap)); spec != nil {
		list = spec.order(b)
	}
	return append(list, left(byName(b.snap.Pods), list)...)
}

// left are pods that an update would not reach.
func left(all, taken []*cluster.Pod) []*cluster.Pod {
	return slices.DeleteFunc(all, func(p *cluster.Pod) bool { return slices.ContainsFunc(taken, samePod(p)) })
}

// restartSteps makes the steps: those of the policy, or one for all.
func (b *builder) restartSteps(pods []*cluster.Pod, r Restarting) {
	steps := b.policy.Steps
	if len(steps) == 0 {
		steps = []PolicyStep{{To: All}}
	}
	rungs, done := ladder(steps, len(pods), 0), 0
	for i, rung := range rungs {
		batch := pods[done:rung.updated]
		done = rung.updated
		if len(batch) == 0 {
			continue
		}
		b.add(Step{
			Name: "restart-" + rung.To.String(), Kind: StepRecreateContainers,
			Title: fmt.Sprintf("restart %s in %s: %d of %d", strings.Join(r.Containers, ", "), plural(len(batch), "pod"), done, len(pods)),
			Pods:  restartPods(batch), Updated: b.sub.updated, Kept: b.sub.total - b.sub.updated,
			Containers: &Containers{Names: r.Containers, Method: r.Method, RestartStrategy: r.RestartStrategy},
			Before:     []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
			After:      []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
		})
		b.afterRung(rung, i == len(rungs)-1)
	}
	if len(b.plan.Steps) == 0 {
		b.plan.Change.Why = "nothing to do: there is no pod to restart"
	}
}

func restartPods(list []*cluster.Pod) []PodStep {
	out := make([]PodStep, len(list))
	for i, p := range list {
		out[i] = PodStep{Name: p.Name, UID: p.UID, Node: p.Node, Mode: rules.ModeInPlace, Why: "its containers restart, the pod stays"}
	}
	return out
}
