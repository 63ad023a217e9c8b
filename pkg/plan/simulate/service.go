package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// rolloutService is what an executor asks of the cluster: it observes workloads, keeps the
// progress of their rollouts, and carries out the actions of their plans.
type rolloutService struct {
	*parts
}

// Snapshot returns what is known of a workload now. It may be kept: it never
// changes.
func (s *rolloutService) Snapshot(ref cluster.Ref) (plan.Snapshot, error) {
	o, err := s.store.lookup(ref)
	if err != nil {
		return plan.Snapshot{}, err
	}
	snap := s.observe(o)
	snap.Pods, snap.Answers = slices.Clone(snap.Pods), nil
	snap.Pulled = s.pulledBy(o, snap.Pods)
	return snap, nil
}

// Observe is [World.Snapshot], as the executor asks for it.
func (s *rolloutService) Observe(_ context.Context, ref cluster.Ref) (plan.Snapshot, error) {
	return s.Snapshot(ref)
}

// observe returns a snapshot that must not be kept, as its list of pods changes, without the nodes
// that images are on.
func (s *rolloutService) observe(o *object) plan.Snapshot {
	pods := s.store.podsOf(o)
	snap := plan.Snapshot{
		Version: s.store.versionOf(o), Workload: o.workload, Revisions: slices.Clone(s.store.revisionsOf(o)), Pods: pods,
		Nodes: s.scheduler.share(), Namespaces: s.store.namespaces, Gates: s.opt.Gates, Reports: maps.Clone(s.kubelet.reports),
		Pulling: maps.Clone(o.pulling), Pulls: o.pulls, Verified: s.answers(o), Progress: o.progress, Base: o.base, Answers: o.remembered(s.opt),
	}
	if o.carrier != nil {
		snap.Carrier, snap.Revisions = o.carrier.workload, slices.Clone(s.store.revisionsOf(o.carrier))
	}
	snap.Budgets, snap.Disruptions = s.budgets.shown(o)
	return snap
}

// Await lets time pass until something has changed that the workload's snapshot
// shows, or until a time; zero is no limit. It returns at once when the snapshot
// of that version is out of date, and fails when nothing would ever happen again.
// It returns as late as a controller learns of a change, so that changes which
// happen together are seen together.
func (s *rolloutService) Await(ctx context.Context, ref cluster.Ref, since string, until time.Time) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	limit := forever
	if !until.IsZero() {
		limit = until.Sub(s.clock.start)
	}
	if s.store.versionOf(o) != since {
		return nil
	}
	for s.store.versionOf(o) == since {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.clock.step(limit) {
			if until.IsZero() {
				return errStuck
			}
			s.clock.at = max(s.clock.at, limit)
			return nil
		}
		if err := s.clock.fault(); err != nil {
			return err
		}
	}
	late := min(s.clock.at+s.opt.latency(len(s.store.podsOf(o))), limit)
	for s.clock.step(late) {
	}
	s.clock.at = max(s.clock.at, late)
	return s.clock.fault()
}

// forever is the end of time.
const forever = time.Duration(1<<63 - 1)

// Begin forgets the progress of the rollout before: another plan is carried out now, which
// its executor knows.
func (s *rolloutService) Begin(_ context.Context, ref cluster.Ref, _ plan.Plan) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	o.progress = plan.Progress{}
	clear(o.restarts)
	s.store.touch(o)
	o.recorded = o.version
	return nil
}

// Record keeps the progress of a rollout.
func (s *rolloutService) Record(_ context.Context, ref cluster.Ref, since string, p plan.Progress) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	own, _, _ := strings.Cut(since, ".")
	n, _ := strconv.ParseUint(own, 36, 64)
	if o.recorded > n {
		return fmt.Errorf("progress of %s: %w", ref, plan.ErrConflict)
	}
	o.progress = p
	s.store.touch(o)
	o.recorded = o.version
	return nil
}

// Promote passes the current step of the rollout that carries out a plan, as a user
// does.
func (s *rolloutService) Promote(ref cluster.Ref, of plan.Plan) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	if o.progress, err = o.progress.Promote(of, plan.Promotion{}, s.clock.now()); err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	s.store.touch(o)
	o.recorded = o.version
	return nil
}

// Do carries out one action of a plan.
func (s *rolloutService) Do(_ context.Context, ref cluster.Ref, a plan.Action) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	switch {
	case a.Patch != nil:
		return s.send(ref, a)
	case a.Pod != nil:
		return s.pods.patchPod(a.Pod.PodRef, a.Pod.Change)
	case a.Evict != nil:
		return s.pods.evict(*a.Evict)
	case a.Delete != nil:
		return s.pods.deleteByHand(*a.Delete)
	case a.Pull != nil:
		s.pullAll(o, a.Pull)
	case a.Restart != nil:
		return s.restartContainers(o, a.Step, a.Restart)
	case a.Verify != nil:
		step := a.Step
		result := plan.Result{Done: true, Good: true, Text: "assumed to be good"}
		if len(s.opt.Answers) > 0 {
			result, s.opt.Answers = s.opt.Answers[0], s.opt.Answers[1:]
		}
		result.At = s.clock.now()
		o.verified = maps.Clone(o.verified)
		o.verified[step] = result
		s.store.touch(o)
	}
	return nil
}

// send patches the target of a patch, provided that it is the object that the
// action was decided for.
func (s *rolloutService) send(ref cluster.Ref, a plan.Action) error {
	if t := a.Patch.Target; t != nil {
		ref = t.Ref()
	}
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	if a.Precondition.UID != "" && o.workload != nil && a.Precondition.UID != o.workload.UID {
		return fmt.Errorf("%s: %w", ref, plan.ErrConflict)
	}
	return s.api.patch(ref, *a.Patch.WithMark(a.Mark, tree.Strings(tree.Get(o.doc, "metadata", "annotations"))))
}

// pullAll has images on the nodes of the workload's pods, so many at a time.
func (s *rolloutService) pullAll(o *object, p *plan.Pull) {
	var nodes []*node
	for _, pod := range s.store.podsOf(o) {
		if n := s.scheduler.nodes[pod.Node]; n != nil && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	parallel := p.Parallel
	if parallel <= 0 {
		parallel = len(nodes)
	}
	for _, image := range p.Images {
		o.pulling[image] = true
		if s.kubelet.unpullable(image) {
			s.clock.after(s.opt.Agent.Pull.draw(s.chance), func() { s.failPull(o, nodes, image) })
			continue
		}
		// Start pulling on the first nodes; each that is done starts another.
		next := 0
		var one func()
		one = func() {
			for next < len(nodes) && nodes[next].images[image] {
				next++
			}
			if next < len(nodes) {
				next++
				s.kubelet.pull(nodes[next-1], image, one)
			}
		}
		for range min(parallel, len(nodes)) {
			one()
		}
	}
	s.store.touch(o)
}

// failPull ends the pull of an image that no node can get.
func (s *rolloutService) failPull(o *object, nodes []*node, image string) {
	state := plan.PullState{Over: true}
	for _, n := range nodes {
		state.Troubles = append(state.Troubles, plan.PullTrouble{Node: n.Name, Why: waitingBackOff, Final: true, Since: s.clock.now()})
	}
	o.pulls = maps.Clone(o.pulls)
	o.pulls[image] = state
	s.store.touch(o)
}

// pulledBy returns on how many of the nodes of the pods each image is. It is computed again only
// when an image has arrived or a pod has come or gone.
func (s *rolloutService) pulledBy(o *object, list []*cluster.Pod) map[string]int {
	if o.pulled.nodes != nil && o.pulled.pulls == s.kubelet.pulls && o.pulled.moves == s.store.moves {
		return o.pulled.nodes
	}
	out := map[string]int{}
	seen := map[*node]bool{}
	for _, p := range list {
		n := s.scheduler.nodes[p.Node]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		for image := range n.images {
			out[image]++
		}
	}
	o.pulled = pullCounts{s.kubelet.pulls, s.store.moves, out}
	return out
}

// pullCounts is on how many nodes images are, as of two counts of changes.
type pullCounts struct {
	pulls, moves uint64
	nodes        map[string]int
}

// restart is containers of one pod that were asked to restart, with how often they
// had restarted before.
type restart struct {
	uid    string
	before map[string]int
}

// restartContainers restarts containers of a pod, once for each step.
func (s *rolloutService) restartContainers(o *object, step string, r *plan.Restart) error {
	e, err := s.store.findPod(r.PodRef)
	if err != nil {
		return err
	}
	key := plan.RestartKey(step, r.Name)
	if o.restarts[key].uid == e.UID {
		return nil
	}
	s.recorder.writes++
	asked := restart{e.UID, map[string]int{}}
	for i := range e.Containers {
		if c := &e.Containers[i]; slices.Contains(r.Containers, c.Name) {
			asked.before[c.Name] = c.Restarts
			if i < len(e.runtime) && !e.runtime[i].running && !e.runtime[i].started {
				asked.before[c.Name]-- // it starts again anyway
			}
		}
	}
	o.restarts[key] = asked
	for _, name := range r.Containers {
		s.kubelet.restartContainer(e, name)
	}
	s.store.touch(o)
	return nil
}

// answers are the results of questions and restarts.
func (s *rolloutService) answers(o *object) map[string]plan.Result {
	out := maps.Clone(o.verified)
	for key, asked := range o.restarts {
		if e := s.store.podsByUID[asked.uid]; e != nil {
			out[key] = asked.result(e)
		}
	}
	return out
}

// result is good when every container has restarted and is ready.
func (r restart) result(e *pod) plan.Result {
	for name, before := range r.before {
		if c, ok := e.Container(name); !ok || c.Restarts <= before || !c.Ready {
			return plan.Result{}
		}
	}
	return plan.Result{Done: true, Good: true}
}
