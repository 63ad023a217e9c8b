// Package diagnose answers why a rollout does not move, why a pod was not updated
// and why it has no sidecar or an old one, and where pods are, compared with where they should be.
// It has no rule of its own: it asks those of plan and inject, and sorts the blockers for users.
package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Question is all that is known of a workload.
type Question struct {
	// Name is how a command line names it: cloneset/web.
	Name string
	// Plan is the recorded one, or [plan.CurrentSpecPlan].
	Plan     plan.Plan
	Snapshot plan.Snapshot
	// Begun is true if a rollout is recorded; Holder is its executor, empty if it has none.
	Begun  bool
	Holder string
	// Controller is who else controls the rollout of the workload; nil for none.
	Controller *Controller
	Now        time.Time
}

// ForSpec asks about a workload without a recorded rollout: the spec decides about its pods, and
// recorded progress belongs to a rollout that has ended, of another plan.
func (q *Question) ForSpec() {
	q.Begun, q.Holder = false, ""
	q.Plan, q.Snapshot = plan.ForSpec(q.Snapshot)
}

// Cause is one blocker with its remedy.
type Cause struct {
	// Gate is one of those of plan.Blocker.
	Gate string `json:"gate"`
	// Pods are those that it is about; none where it is about all.
	Pods []string `json:"pods,omitempty"`
	Why  string   `json:"why"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
	// Blocked is true for a cause that does not pass by itself.
	Blocked bool `json:"blocked"`
	// Restarts is how often the container has restarted that fails, at most in one of the pods.
	Restarts int `json:"-"`
}

// Diagnosis is an answer.
type Diagnosis struct {
	// About is what was asked about.
	About string `json:"about"`
	// Answer is the status in one sentence.
	Answer string `json:"answer"`
	// Status is the same in its parts; it is empty where a pod was asked about.
	Status plan.Status `json:"-"`
	// Pods counts those of the workload.
	Pods *plan.Tally `json:"pods,omitempty"`
	// Causes are the blockers, those that do not pass by themselves first.
	Causes []Cause `json:"causes"`
	// Sidecars is about one pod: what each SidecarSet means to it.
	Sidecars []Sidecar `json:"sidecars,omitempty"`
}

// Workload reports why a rollout does not move.
func Workload(q Question) Diagnosis {
	d := plan.Next(q.Plan, q.Snapshot, q.Now)
	a := &answer{q: &q}
	a.outlook, _ = plan.PreviewOf(q.Snapshot, q.Now)
	a.addDecision(d)
	a.addOwner()
	if a.outlook != nil {
		a.addSpec(d)
		a.addPace(d)
		a.addMissing()
		a.addUnready()
		a.addTerminating()
	}
	tally := plan.Count(q.Plan, q.Snapshot)
	return Diagnosis{About: q.Name, Answer: a.line(d), Status: a.status(d), Pods: &tally, Causes: a.sorted()}
}

// Reason is what the workload waits for or why its rollout failed, without what a list has
// in columns of its own; the whole answer where there is no such reason.
func (d Diagnosis) Reason() string {
	switch {
	case d.Status.Reason != "":
		return d.Status.Reason
	case d.Status.Step > 0:
		return d.Status.Head()
	}
	return d.Answer
}

// answer gathers causes.
type answer struct {
	q       *Question
	outlook *plan.Preview
	causes  []Cause
}

func (a *answer) add(gate, why string, blocked bool, pods ...string) {
	a.addCause(Cause{Gate: gate, Pods: pods, Why: why, Blocked: blocked})
}

func (a *answer) addCause(c Cause) {
	for i := range a.causes {
		if merged, ok := a.causes[i].with(c); ok {
			a.causes[i] = merged
			return
		}
	}
	if c.Hint = a.revisionHint(c); c.Hint == "" {
		c.Hint = a.hint(c)
	}
	a.causes = append(a.causes, c)
}

// with is both causes as one, where they are the same fault: what a rollout has halted for
// is what is seen of its pods as well, in more words.
func (c Cause) with(more Cause) (Cause, bool) {
	same := slices.Equal(c.Pods, more.Pods)
	shares := slices.ContainsFunc(c.Pods, func(name string) bool { return slices.Contains(more.Pods, name) })
	switch {
	case c.Gate != more.Gate, !same && !shares:
		return c, false
	case c.Why == more.Why && same:
		c.Restarts = max(c.Restarts, more.Restarts)
		return c, true
	case !slices.Contains(faults, c.Gate), !strings.HasPrefix(more.Why, c.Why):
		return c, false
	}
	c.Why, c.Blocked, c.Restarts = more.Why, c.Blocked || more.Blocked, max(c.Restarts, more.Restarts)
	for _, name := range more.Pods {
		if !slices.Contains(c.Pods, name) {
			c.Pods = append(slices.Clip(c.Pods), name)
		}
	}
	return c, true
}

// sorted has what does not pass by itself first.
func (a *answer) sorted() []Cause {
	out := slices.Clone(a.causes)
	slices.SortStableFunc(out, func(x, y Cause) int {
		switch {
		case x.Blocked == y.Blocked:
			return 0
		case x.Blocked:
			return -1
		}
		return 1
	})
	if out == nil {
		out = []Cause{}
	}
	return out
}

// status is the status in one sentence; its reason is the first of the causes.
func (a *answer) status(d plan.Decision) plan.Status {
	if d.Verb == plan.Done {
		return plan.Status{State: plan.StatusCompleted}
	}
	if a.haltedByOwner(d) {
		d = plan.Decision{Verb: plan.Wait, Step: d.Step, Progress: d.Progress, Reason: d.Reason}
	}
	s := plan.StatusOf(&a.q.Plan, a.q.Snapshot.Progress, d, a.q.Begun)
	list := a.sorted()
	if s.Reason == "" || len(list) == 0 {
		return s
	}
	s.Reason = list[0].String()
	if list[0].Blocked && list[0].Gate != plan.GatePaused {
		s = s.Blocked(s.Reason)
	}
	if list[0].Gate == plan.GatePaused && s.State == plan.StatusProgressing {
		s.State = plan.StatusPaused
	}
	return s
}

// line is the answer in one line.
func (a *answer) line(d plan.Decision) string {
	if d.Verb == plan.Done {
		return a.done()
	}
	return a.status(d).String()
}

func (a *answer) done() string {
	t := plan.Count(a.q.Plan, a.q.Snapshot)
	pods := "all " + counted.PodsAre(t.Total)
	if t.Total == 1 {
		pods = "the only pod is"
	}
	switch {
	case t.Total == 0:
		return "it has no pods"
	case t.Updated < t.Total:
		return fmt.Sprintf("%d of %s up to date, and the spec asks for no more", t.Updated, counted.PodsAre(t.Total))
	case t.UpdatedReady < t.Total:
		return fmt.Sprintf("%s up to date, %d of %d not ready", pods, t.Total-t.UpdatedReady, t.Total)
	}
	return pods + " up to date and ready"
}

// faults are gates whose reason is a word of its own, which comes before the pods.
var faults = []string{plan.GateCrash, plan.GateImage}

// String is the cause in one line, see [plan.Sentence], with the restarts behind the reason:
//
//	CrashLoopBackOff (7 restarts): container app in pod web-1; image web:2
func (c Cause) String() string { return plan.Sentence(c.Gate, c.reason(), c.Pods...) }

// reason is Why with the restarts.
func (c Cause) reason() string {
	before, after, ok := strings.Cut(c.Why, ": ")
	if c.Restarts == 0 || !ok || !slices.Contains(faults, c.Gate) {
		return c.Why
	}
	return fmt.Sprintf("%s (%s): %s", before, counted.Of(c.Restarts, "restart"), after)
}

// Names lists the first few names.
func Names(list []string) string { return plan.Names(list) }

// podNamed finds one of the workload's pods.
func podNamed(s *plan.Snapshot, name string) *cluster.Pod {
	for _, p := range s.Pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// reportedWithPods reports whether a blocker is reported with the pods that are not ready.
func (a *answer) reportedWithPods(b plan.Blocker) bool {
	p := podNamed(&a.q.Snapshot, b.Pod)
	return p != nil && rules.Active(p) && !rules.Ready(p) && slices.Contains([]string{plan.GateCrash, plan.GateImage, plan.GateSchedule, plan.GateReady}, b.Gate)
}

// Controller is another controller that moves a workload's partition: a Kruise Rollout, or the
// UnitedDeployment that it is a subset of.
type Controller struct {
	// Name is its name for users: Kruise Rollout web.
	Name string
	// Status is the state of the other rollout.
	Status string
	// Waits is true where a user must act; Next is the command.
	Waits bool
	Next  string
}

// addOwner adds who else controls the rollout, if pods wait for that.
func (a *answer) addOwner() {
	if h := a.q.Controller; h != nil && (h.Waits || a.outlook != nil && len(a.outdated()) > 0) {
		a.add(plan.GateOwner, "run by "+h.Name+": "+h.Status, h.Waits)
	}
}

// haltedByOwner reports whether a rollout has halted for no more than that.
func (a *answer) haltedByOwner(d plan.Decision) bool {
	return a.q.Controller != nil && !a.q.Begun && d.Verb == plan.Halt && len(d.Blockers) > 0 && d.Blockers[0].Gate == plan.GateOwner
}

// subsetNote reports where a WorkloadSpread wants a pod that no node takes.
func subsetNote(p *cluster.Pod) string {
	m, ok := spread.ReadMatch(p.Annotations)
	if !ok || p.Node != "" || m.Spread == "" {
		return ""
	}
	return "; WorkloadSpread " + m.Spread + " placed it into subset " + m.Subset + ": it can only use nodes of that subset"
}
