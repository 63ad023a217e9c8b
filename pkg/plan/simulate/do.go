package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Observe is [World.Snapshot], as the executor asks for it.
func (w *World) Observe(_ context.Context, ref cluster.Ref) (plan.Snapshot, error) {
	return w.Snapshot(ref)
}

// Await lets time pass until something has changed that the workload's snapshot
// shows, or until a time; zero is no limit. It returns at once when the snapshot
// of that version is out of date, and fails when nothing would ever happen again.
// Whoever watches learns of changes as late as a controller does, so what happens
// together is seen together.
func (w *World) Await(ctx context.Context, ref cluster.Ref, since string, until time.Time) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	limit := forever
	if !until.IsZero() {
		limit = until.Sub(w.start)
	}
	if w.versionOf(o) != since {
		return nil
	}
	for w.versionOf(o) == since {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !w.step(limit) {
			if until.IsZero() {
				return ErrStuck
			}
			w.at = max(w.at, limit)
			return nil
		}
		if err := w.fault(); err != nil {
			return err
		}
	}
	late := min(w.at+w.latency(len(w.podsOf(o))), limit)
	for w.step(late) {
	}
	w.at = max(w.at, late)
	return w.fault()
}

// forever is the end of time.
const forever = time.Duration(1<<63 - 1)

// Record keeps the progress of a rollout.
func (w *World) Record(_ context.Context, ref cluster.Ref, since string, p plan.Progress) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	if o.recorded > ownVersion(since) {
		return fmt.Errorf("progress of %s: %w", ref, plan.ErrConflict)
	}
	o.progress = p
	w.touch(o)
	o.recorded = o.version
	return nil
}

// Begin forgets how far a rollout has come: another plan is carried out now. Which
// one, whoever drives it knows.
func (w *World) Begin(_ context.Context, ref cluster.Ref, _ plan.Plan) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	o.progress = plan.Progress{}
	clear(o.restarts)
	w.touch(o)
	o.recorded = o.version
	return nil
}

// ownVersion is the part of a snapshot's version that counts the object's own
// changes.
func ownVersion(version string) uint64 {
	own, _, _ := strings.Cut(version, ".")
	n, _ := strconv.ParseUint(own, 36, 64)
	return n
}

// Do carries out one action of a plan.
func (w *World) Do(_ context.Context, ref cluster.Ref, a plan.Action) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	switch {
	case a.Patch != nil:
		return w.send(ref, a)
	case a.Pod != nil:
		return w.PatchPod(a.Pod.PodRef, a.Pod.Change)
	case a.Evict != nil:
		return w.EvictPod(*a.Evict)
	case a.Delete != nil:
		return w.DeletePod(*a.Delete)
	case a.Pull != nil:
		w.pullAll(o, a.Pull)
	case a.Restart != nil:
		return w.restartContainers(o, a.Step, a.Restart)
	case a.Verify != nil:
		w.verify(o, a.Step, a.Verify)
	}
	return nil
}

// send patches the target of a patch, provided that it is the object that the
// action was decided for.
func (w *World) send(ref cluster.Ref, a plan.Action) error {
	if t := a.Patch.Target; t != nil {
		ref = t.Ref()
	}
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	if a.Precondition.UID != "" && o.workload != nil && a.Precondition.UID != o.workload.UID {
		return fmt.Errorf("%s: %w", ref, plan.ErrConflict)
	}
	return w.Patch(ref, *a.Patch)
}

// pullAll has images on the nodes of the workload's pods, so many at a time.
func (w *World) pullAll(o *object, p *plan.Pull) {
	var nodes []*node
	for _, pod := range w.podsOf(o) {
		if n := w.nodes[pod.Node]; n != nil && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	parallel := p.Parallel
	if parallel <= 0 {
		parallel = len(nodes)
	}
	for _, image := range p.Images {
		o.pulling[image] = true
		if w.unpullable(image) {
			w.after(w.opt.Agent.Pull.draw(&w.chance), func() { w.failPull(o, nodes, image) })
			continue
		}
		w.pullOn(nodes, image, parallel)
	}
	w.touch(o)
}

// failPull has nobody pull an image any more that nobody can get.
func (w *World) failPull(o *object, nodes []*node, image string) {
	state := plan.PullState{Over: true}
	for _, n := range nodes {
		state.Troubles = append(state.Troubles, plan.PullTrouble{Node: n.Name, Why: waitingBackOff, Final: true, Since: w.now()})
	}
	o.pulls = maps.Clone(o.pulls)
	o.pulls[image] = state
	w.touch(o)
}

// pullOn starts pulling on the first nodes; each that is done starts another.
func (w *World) pullOn(nodes []*node, image string, parallel int) {
	next := 0
	var one func()
	one = func() {
		for next < len(nodes) && nodes[next].images[image] {
			next++
		}
		if next < len(nodes) {
			next++
			w.pull(nodes[next-1], image, one)
		}
	}
	for range min(parallel, len(nodes)) {
		one()
	}
}

// verify answers a plan's question.
func (w *World) verify(o *object, step string, v *plan.Verify) {
	result := plan.Result{Done: true, Good: true, Text: "assumed to be good"}
	if w.opt.Verify != nil {
		result = w.opt.Verify(step, v)
	}
	result.At = w.now()
	o.verified = maps.Clone(o.verified)
	o.verified[step] = result
	w.touch(o)
}
