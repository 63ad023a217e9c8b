package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// RestartRequest is what a restart is about.
type RestartRequest struct {
	// Containers are names; without any, all regular containers of each pod restart.
	Containers []string
	// Pods are names of those to restart; without any, all pods of the workload.
	Pods []string
	// Method is empty for what the cluster can do.
	Method string
	RestartStrategy
}

// BuildRestart makes the plan that restarts containers inside the pods of a workload,
// in the order in which an update would take the pods, and no more at once than may
// be unavailable. The template stays as it is. Errors name the pod and the container
// that cannot be restarted.
func BuildRestart(s Snapshot, r RestartRequest, policy Policy) (Plan, error) {
	present := s.Object()
	b := newBuilder(present, present, s, policy)
	if err := b.check(); err != nil {
		return Plan{}, err
	}
	if err := b.chooseDriver(); err != nil {
		return Plan{}, err
	}
	b.compareTemplates()
	b.plan.Change.Mode, b.plan.Change.Why = rules.ModeInPlace, "containers restart inside their pods"
	b.subject = b.readSubject()
	b.plan.Limits, b.plan.Drain, b.plan.Grace = b.subject.limits, "", 0
	pods, err := b.podsToRestart(&r)
	if err != nil {
		return Plan{}, err
	}
	b.plan.Change.Restarts = r.Containers
	b.addRestartSteps(pods, r)
	if b.plan.Limits.MaxUnavailable == 0 && len(pods) > 0 {
		b.warning("maxUnavailable comes to 0 pods: they restart one at a time, and one is unavailable meanwhile")
	}
	return b.plan, nil
}

// podsToRestart are the pods to restart, in order, and fills in their containers.
func (b *builder) podsToRestart(r *RestartRequest) ([]*cluster.Pod, error) {
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
	for _, name := range r.Containers {
		if len(pods) > 0 && !slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return CannotRestart(p, name) != noSuchContainer }) {
			return nil, &tree.Error{Msg: fmt.Sprintf("the pods have no container %q", name), Hint: "containers: " + strings.Join(commonContainers(pods), ", ")}
		}
	}
	for _, p := range pods {
		for _, name := range r.Containers {
			if why := CannotRestart(p, name); why != "" {
				bad = append(bad, fmt.Sprintf("container %s of pod %s: %s", name, p.Name, why))
			}
		}
	}
	if len(bad) > 0 {
		return nil, &tree.Error{Msg: "these cannot be restarted: " + strings.Join(bad[:min(len(bad), maxNamed)], "; "), Hint: "name regular containers of running pods with -c, and pods one by one"}
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
	if spec := kindOf(b.present.Object).restartSpec(sourceObject(b.snap)); spec != nil {
		list = spec.updateOrder(&b.comparison)
	}
	// An update would not reach the others.
	others := slices.DeleteFunc(byName(b.snap.Pods), func(p *cluster.Pod) bool { return slices.ContainsFunc(list, samePod(p)) })
	return append(list, others...)
}

// addRestartSteps makes the steps: those of the policy, or one for all.
func (b *builder) addRestartSteps(pods []*cluster.Pod, r RestartRequest) {
	steps := b.policy.Steps
	if len(steps) == 0 {
		steps = []PolicyStep{{To: All}}
	}
	stages, done := resolveStages(steps, len(pods), 0), 0
	for i, stage := range stages {
		batch := pods[done:stage.updated]
		done = stage.updated
		if len(batch) == 0 {
			continue
		}
		b.addStep(Step{
			Name: "restart-" + stage.To.String(), Kind: StepRecreateContainers,
			Title: fmt.Sprintf("restart %s in %s: %d of %d", strings.Join(r.Containers, ", "), counted.Of(len(batch), "pod"), done, len(pods)),
			Pods:  restartPods(batch), Updated: b.subject.updated, Kept: b.subject.total - b.subject.updated,
			Containers: &Containers{Names: r.Containers, Method: r.Method, RestartStrategy: r.RestartStrategy},
			Before:     []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
			After:      []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
		})
		b.addChecksAndPause(stage, i == len(stages)-1)
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

// CannotRestart reports why a container cannot be restarted inside its pod, whatever the
// method: what Kruise's webhook refuses (docs/kruise/jobs.md#containerrecreaterequest). It is empty
// where it can.
func CannotRestart(p *cluster.Pod, container string) string {
	c, ok := p.Container(container)
	switch {
	case !ok:
		return notRegular(p, container)
	case p.Deleting:
		return "the pod is being deleted"
	case !rules.Active(p):
		return "the pod has ended"
	case p.Node == "":
		return "the pod is on no node yet"
	case !c.Reported, c.ImageID == "" && c.Waiting != "":
		return "the container has not been started yet"
	case c.Final:
		return "it would not start again: its restartPolicy is Never"
	}
	return ""
}

const noSuchContainer = "the pod has no such container"

// notRegular reports what a name belongs to if it is not a regular container.
func notRegular(p *cluster.Pod, name string) string {
	i := slices.IndexFunc(p.InitContainers, func(c cluster.Container) bool { return c.Name == name })
	switch {
	case slices.Contains(p.Ephemeral, name):
		return "it is an ephemeral container: those run once"
	case i < 0:
		return noSuchContainer
	case p.InitContainers[i].Native:
		return "it is a native sidecar, an init container: those are not restarted by request"
	}
	return "it is an init container: those run once, when the pod starts"
}

// RestartMethod chooses how the containers of pods are restarted: by Kruise's node
// agent where it is, else by another name of the image where each has one, else by a
// signal. why is the reason for users.
func RestartMethod(installed bool, pods []*cluster.Pod, containers []string) (method, why string) {
	if installed {
		return RestartCRR, "Kruise's node agent restarts the containers"
	}
	for _, p := range pods {
		for _, name := range containers {
			c, ok := p.Container(name)
			if !ok {
				continue
			}
			if _, why := kruise.ImageAlias(c.Image, c.StatusImage, c.ImageID); why != "" {
				return RestartSignal, fmt.Sprintf("there is no Kruise, and the image of %s in pod %s has no other name: %s", name, p.Name, why)
			}
		}
	}
	return RestartAlias, "there is no Kruise, and every image has another name"
}

// RestartKey is the key in [Snapshot.Verified] under which the executor that restarts containers
// stores the result for one pod.
func RestartKey(step, pod string) string { return step + "/" + pod }

// containerRestarts is one step that restarts containers.
type containerRestarts struct {
	*run
	step *Step
	// down counts pods that are not available, those that are asked to restart
	// among them.
	down            int
	budgets         *budgetTracker
	actions         []Action
	waiting, failed []Blocker
	// next is when a pod in trouble will have failed.
	next time.Time
}

// restartContainers restarts containers inside the named pods, no more at once than may
// be unavailable, and than budgets allow. Requested restarts are checked
// first: such pods may still report that they are ready.
func (r *run) restartContainers(s *Step) (Decision, bool) {
	if s.Containers == nil || r.progress.Promoted {
		return Decision{}, true
	}
	c := &containerRestarts{run: r, step: s, budgets: newBudgetTracker(r.snap)}
	for _, p := range c.unrequestedPods() {
		c.request(p)
	}
	switch {
	case len(c.failed) > 0:
		return r.halt(c.failed...), false
	case len(c.actions) > 0:
		return r.act(s.Title, c.actions...), false
	case len(c.waiting) > 0:
		d := r.waitOrTimeOut(s, c.waiting[:min(len(c.waiting), maxNamed)]...)
		if d.Verb == Wait {
			d.Until = earliest(earliest(d.Until, c.next), r.nextAvailable())
		}
		return d, false
	}
	return Decision{}, true
}

// unrequestedPods are the pods of the step without a request yet; it counts unavailable pods.
func (c *containerRestarts) unrequestedPods() (list []*cluster.Pod) {
	pods := map[string]*cluster.Pod{}
	for _, p := range c.snap.Pods {
		pods[p.Name] = p
		if rules.Active(p) && !c.available(p) {
			c.down++
		}
	}
	for _, want := range c.step.Pods {
		// One that is gone needs nothing: its successor has restarted.
		if p := pods[want.Name]; p != nil && (want.UID == "" || want.UID == p.UID) && rules.Active(p) && !c.checkRequested(p) {
			list = append(list, p)
		}
	}
	return list
}

// available reports whether a pod counts as up.
func (c *containerRestarts) available(p *cluster.Pod) bool {
	return rules.Available(p, time.Duration(c.plan.Limits.MinReady), c.now)
}

// checkRequested checks a pod whose restart was requested, and is false for any other.
func (c *containerRestarts) checkRequested(p *cluster.Pod) bool {
	answer, asked := c.snap.Verified[RestartKey(c.step.Name, p.Name)]
	switch {
	case asked && answer.Done && answer.Good && becomesReady(p):
		c.observe(p, "its containers have restarted, and it is not ready yet")
	case !asked || answer.Done && answer.Good:
	case answer.Done:
		c.failed = append(c.failed, Blocker{GateReady, p.Name, orDefault(answer.Text, "its containers did not restart")})
	default:
		c.observe(p, orDefault(answer.Text, "its containers restart"))
	}
	return asked
}

// becomesReady reports whether a pod that is not ready will be without any container changing: what held it
// unready for the restart is about to be released, or the kubelet to report it. What other gates and containers
// hold is not the restart's.
func becomesReady(p *cluster.Pod) bool {
	switch {
	case rules.Ready(p) || !rules.Active(p):
		return false
	case hasCondition(p, kruise.KruisePodReady, corev1.ConditionFalse):
		return true
	}
	return !slices.ContainsFunc(p.Containers, func(c cluster.Container) bool { return !c.Ready }) &&
		!slices.ContainsFunc(p.ReadinessGates, func(gate string) bool { return !hasCondition(p, gate, corev1.ConditionTrue) })
}

func hasCondition(p *cluster.Pod, kind string, is corev1.ConditionStatus) bool {
	c, ok := p.Condition(kind)
	return ok && c.Status == is
}

// request requests the restart of a pod, unless a limit or a budget prevents it.
func (c *containerRestarts) request(p *cluster.Pod) {
	if rules.Ready(p) {
		if limit := max(c.plan.Limits.MaxUnavailable, 1); c.down >= limit {
			c.waiting = append(c.waiting, Blocker{GateMaxUnavailable, p.Name, fmt.Sprintf("%s not available, and maxUnavailable allows %d", counted.PodsAre(c.down), limit)})
			return
		}
		if why, ok := c.permit(p); !ok {
			c.waiting = append(c.waiting, Blocker{GateBudget, p.Name, why})
			return
		}
	}
	if c.available(p) {
		c.down++
	}
	how := c.step.Containers
	r := Restart{PodRef{p.Namespace, p.Name, p.UID}, how.Names, how.Method, how.RestartStrategy}
	c.actions = append(c.actions, Action{Restart: &r})
}

// permit asks the budgets that cover a pod whether one more may be unavailable: none of
// them hears of a container that restarts.
func (c *containerRestarts) permit(p *cluster.Pod) (why string, ok bool) {
	if why, ok = c.budgets.allow(p, kruise.PubUpdateOperation); ok {
		why, ok = c.budgets.evict(p)
	}
	return why, ok
}

// observe checks a pod whose containers restart: one that was ready is unavailable meanwhile,
// to the budgets too, and one that cannot come back ends the rollout.
func (c *containerRestarts) observe(p *cluster.Pod, text string) {
	if c.available(p) {
		c.down++
	}
	if rules.Ready(p) {
		_, _ = c.permit(p) // takes what it was given before
	}
	b, grace, bad := podFailure(p)
	if !bad {
		c.waiting = append(c.waiting, Blocker{GateReady, p.Name, text})
		return
	}
	due := later(sinceNotReady(p), c.stepStart()).Add(grace)
	if c.now.Before(due) {
		c.next = earliest(c.next, due)
		c.waiting = append(c.waiting, b)
		return
	}
	c.failed = append(c.failed, b)
}
