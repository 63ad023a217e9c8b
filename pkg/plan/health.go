package plan

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Grace times: a state that could pass by itself ends a rollout only when it has
// lasted for the grace time, counted from when the pod stopped being ready, but not from
// before the step began.
const (
	// crashGrace: the kubelet reports CrashLoopBackOff only after the second crash.
	crashGrace = 30 * time.Second
	// imageGrace: a registry may answer again, and the kubelet retries.
	imageGrace = time.Minute
	// configGrace: a ConfigMap or Secret may be created later.
	configGrace = time.Minute
	// scheduleGrace: an autoscaler needs minutes for a node.
	scheduleGrace = 5 * time.Minute
)

// waitingReasons are reasons for which a container waits and will not stop waiting by
// itself.
var waitingReasons = map[string]struct {
	gate  string
	grace time.Duration
}{
	"CrashLoopBackOff":           {GateCrash, crashGrace},
	"ErrImagePull":               {GateImage, imageGrace},
	"ImagePullBackOff":           {GateImage, imageGrace},
	"ErrImageNeverPull":          {GateImage, imageGrace},
	"RegistryUnavailable":        {GateImage, imageGrace},
	"InvalidImageName":           {GateImage, 0},
	"CreateContainerConfigError": {GateReady, configGrace},
	"CreateContainerError":       {GateReady, configGrace},
	"RunContainerError":          {GateReady, configGrace},
}

// maxNamed is how many pods a decision names.
const maxNamed = 5

// health is the state of the updated pods.
type health struct {
	// failed end the rollout, waiting are not ready yet.
	failed, waiting []Blocker
	// held are pods that wait for a lifecycle hook, overdue those of them that have
	// waited for too long.
	held, overdue []Blocker
	// next is when the next failing pod will have failed.
	next time.Time
}

// failures are what ends the rollout.
func (r *run) failures() []Blocker { return r.health().failed }

// nextGrace is when the next failing pod will have failed; zero is never.
func (r *run) nextGrace() time.Time { return r.health().next }

// health examines the updated pods, once for each decision.
func (r *run) health() *health {
	if r.examined == nil {
		r.examined = &health{}
		r.examine(r.examined)
	}
	return r.examined
}

func (r *run) examine(h *health) {
	if d, ok := r.object().Object.(*appsv1.Deployment); ok && rules.Observed(d) && rules.DeadlineExceeded(d) {
		h.failed = append(h.failed, Blocker{Gate: GateDeadline, Why: "the Deployment's progress deadline is exceeded"})
	}
	var carries func(*cluster.Pod) bool
	isMember := r.snap.memberTest()
	for _, p := range r.unquietPods() {
		if isMember != nil && !isMember(p) || h.checkHook(r, p) {
			continue
		}
		if heldByFinalizers(p) && len(h.held) < maxNamed {
			h.held = append(h.held, Blocker{GateHook, p.Name, "terminating, held by finalizers: " + strings.Join(p.Finalizers, ", ")})
		}
		if rules.Ready(p) || !rules.Active(p) {
			continue
		}
		if carries == nil {
			carries = r.updatedTest()
		}
		if carries(p) {
			h.checkPod(r, p)
		}
	}
}

// checkHook reports whether a lifecycle hook holds a pod. That ends a step which waits for it
// once it has lasted for too long.
func (h *health) checkHook(r *run, p *cluster.Pod) bool {
	b, since, ok := r.snap.hookHolding(p)
	if !ok {
		return false
	}
	due := later(since, r.stepStart()).Add(r.plan.hookLimit())
	switch {
	case !r.now.Before(due):
		if len(h.overdue) < maxNamed {
			b.Why += fmt.Sprintf("; not answered for %s", r.plan.hookLimit())
			h.overdue = append(h.overdue, b)
		}
		return true
	case len(h.held) < maxNamed:
		h.held = append(h.held, b)
	}
	h.next = earliest(h.next, due)
	return true
}

// checkPod notes why a pod is not ready.
func (h *health) checkPod(r *run, p *cluster.Pod) {
	b, grace, bad := podFailure(p)
	if !bad {
		if len(h.waiting) < maxNamed {
			h.waiting = append(h.waiting, r.notReady(p))
		}
		return
	}
	due := later(sinceNotReady(p), r.stepStart()).Add(grace)
	if r.now.Before(due) {
		h.next = earliest(h.next, due)
		if len(h.waiting) < maxNamed {
			h.waiting = append(h.waiting, b)
		}
		return
	}
	if len(h.failed) < maxNamed {
		h.failed = append(h.failed, b)
	}
}

// podFailure names the first thing that keeps a pod from ever being ready, and for
// how long it may; a failure of what an update in place replaces passes with the update.
func podFailure(p *cluster.Pod) (b Blocker, grace time.Duration, bad bool) {
	if c, ok := p.Condition(string(corev1.PodScheduled)); ok && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
		return Blocker{GateSchedule, p.Name, orDefault(c.Message, "no node takes it")}, scheduleGrace, true
	}
	for _, list := range [][]cluster.Container{p.InitContainers, p.Containers} {
		for i := range list {
			if t, ok := waitingReasons[list[i].Waiting]; ok {
				if _, before := rules.FailedBefore(p, &list[i]); before {
					continue // not what the pod is being updated to
				}
				return Blocker{t.gate, p.Name, fmt.Sprintf("%s: container %s, image %s", list[i].Waiting, list[i].Name, list[i].Image)}, t.grace, true
			}
		}
	}
	return Blocker{}, 0, false
}

// notReady reports what a pod that is not ready waits for.
func (r *rollout) notReady(p *cluster.Pod) Blocker {
	if pending := rules.InPlacePending(p, r.snap.report(p)); !pending.Done() {
		return Blocker{GateReady, p.Name, pending[0]}
	}
	if c, ok := p.Condition(string(corev1.PodReady)); ok && c.Message != "" {
		return Blocker{GateReady, p.Name, c.Message}
	}
	return Blocker{GateReady, p.Name, "is not ready"}
}

// sinceNotReady is when the pod stopped being ready, or was made.
func sinceNotReady(p *cluster.Pod) time.Time {
	if c, ok := p.Condition(string(corev1.PodReady)); ok && c.Status != corev1.ConditionTrue {
		return c.Since
	}
	return p.Created
}

// updatedTest distinguishes the pods that are up to date; pods of other revisions do not concern
// this rollout.
func (r *rollout) updatedTest() func(*cluster.Pod) bool {
	w := r.object()
	if hashOf(r.object()) != r.plan.Change.ToHash || !rules.Observed(w.Object) {
		return func(*cluster.Pod) bool { return false }
	}
	if r.plan.Driver == DriverClient {
		return atRevision(r.revision())
	}
	return kindOf(w.Object).updatedTest(r)
}

// storedRevision is the stored revision of the present template; "" while there is none.
func (r *rollout) storedRevision() string {
	return revisionNamed(r.snap.Revisions, templateOf(r.object()))
}

func atRevision(revision string) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool { return revision != "" && rules.AtRevision(p, revision) }
}

// nextAvailable is when the next pod that is ready has been so for long enough; zero
// is never. It is always later than now: a pod that has been ready for long enough and
// that only its lifecycle state keeps from being available waits for a change of its state.
func (r *rollout) nextAvailable() (next time.Time) {
	minReady := time.Duration(r.plan.Limits.MinReady)
	if minReady <= 0 {
		return next
	}
	for _, p := range r.snap.Members() {
		if rules.Active(p) && rules.Ready(p) && !rules.ReadyFor(p, minReady, r.now) {
			next = earliest(next, p.ReadySince().Add(minReady+time.Millisecond)) // later than that is long enough
		}
	}
	return next
}

// NotReadyReason reports what a pod that is not ready waits for; blocked is true if that does not
// pass by itself, as far as the pod's status shows.
func NotReadyReason(s Snapshot, p *cluster.Pod) (b Blocker, blocked bool) {
	if b, _, bad := podFailure(p); bad {
		return b, true
	}
	return (&rollout{snap: &s}).notReady(p), false
}

// stepStart is since when an executor has carried out the present step.
func (r *rollout) stepStart() time.Time { return later(r.progress.Started, r.progress.Resumed) }

// earliest returns the earlier of two times; zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func orDefault(text, byDefault string) string {
	if text == "" {
		return byDefault
	}
	return text
}

// revision is the name that the pods of the present template carry; empty while
// it is not known.
func (r *rollout) revision() string { return kindOf(r.object().Object).revision(r) }

func (s *Snapshot) hookHolding(p *cluster.Pod) (b Blocker, since time.Time, ok bool) {
	if s.Workload == nil || s.Workload.Object == nil {
		return Blocker{}, time.Time{}, false
	}
	hold, ok := rules.HeldBy(p, cluster.Of(s.Workload.Object).Lifecycle())
	if !ok {
		return Blocker{}, time.Time{}, false
	}
	why := fmt.Sprintf("lifecycle.%s holds it in %s", hold.Hook, rules.StateOf(p))
	if !hold.Since.IsZero() {
		why += " since " + hold.Since.UTC().Format(time.RFC3339)
	}
	return Blocker{Gate: GateHook, Pod: p.Name, Why: why + ": " + hold.Wants}, hold.Since, true
}

// HookHolding reports which lifecycle hook a pod waits for; ok is false where it waits for none.
func HookHolding(s Snapshot, p *cluster.Pod) (b Blocker, ok bool) {
	b, _, ok = s.hookHolding(p)
	return b, ok
}

// hookLimit is how long a pod may wait for a hook before the rollout halts.
func (p *Plan) hookLimit() time.Duration { return max(minHookLimit, 3*time.Duration(p.HookAnswer)) }

// unquietPods are the pods that [isQuiet] does not hold for, in their order.
func (r *rollout) unquietPods() (out []*cluster.Pod) {
	list := r.snap.Pods
	for _, i := range cluster.Places(r.snap.Answers, "unquiet", r.now, list, func(p *cluster.Pod) (bool, time.Time) { return !isQuiet(p), time.Time{} }) {
		out = append(out, list[i])
	}
	return out
}

// isQuiet reports whether a pod is of no concern to the health of a rollout: it is ready or gone, no
// finalizer holds it, and it is in no state in which a lifecycle hook may.
func isQuiet(p *cluster.Pod) bool {
	switch rules.StateOf(p) {
	case rules.StatePreparingNormal, rules.StatePreparingUpdate, rules.StateUpdated, rules.StatePreparingDelete:
		return false
	}
	return (rules.Ready(p) || !rules.Active(p)) && !heldByFinalizers(p)
}

// heldByFinalizers reports whether a pod is deleted and not gone.
func heldByFinalizers(p *cluster.Pod) bool { return p.Deleting && len(p.Finalizers) > 0 }
