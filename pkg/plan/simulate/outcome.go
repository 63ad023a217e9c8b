package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Build makes the plan of a change and runs it: the pods that its steps name are those that the run
// changes, and everything that is said of the plan follows from them. The error of a plan that
// cannot finish is an [UnfinishedError], and the plan is complete.
func Build(desired *cluster.Workload, s plan.Snapshot, policy plan.Policy, o Options) (plan.Plan, Timeline, error) {
	var line Timeline
	var failed error
	p, err := plan.BuildRun(desired, s, policy, func(p plan.Plan) []plan.Touch {
		line, failed = Predict(p, s, o)
		return line.Touches
	})
	if err != nil {
		return p, line, err
	}
	if text := warnUnready(&p, s); o.Recover == nil && !o.RecoverAll && text != "" {
		p.Warnings = append(p.Warnings, text)
	}
	p.Warnings = append(p.Warnings, line.LostClaims(s.Object())...)
	return p, line, failed
}

// LostClaims says which data goes with the pods that a run of a workload changes.
func (l *Timeline) LostClaims(present *cluster.Workload) (lost []string) {
	claims, replaced, gone := rules.ClaimsOf(present.Object), 0, 0
	for _, t := range l.Touches {
		switch t.Mode {
		case rules.ModeRecreate:
			replaced++
		case rules.ModeDelete:
			gone++
		}
	}
	for _, text := range []string{claims.LostByUpdate(replaced), claims.LostByScaling(gone)} {
		if text != "" {
			lost = append(lost, text)
		}
	}
	return lost
}

// warnUnready says which pods are not ready now and are taken to stay so, and what becomes of them.
func warnUnready(p *plan.Plan, s plan.Snapshot) string {
	down := Unready(s)
	if len(p.Steps) == 0 || len(down) == 0 {
		return ""
	}
	var kept []string
	for _, name := range down {
		if !slices.ContainsFunc(p.Steps, func(step plan.Step) bool {
			return slices.ContainsFunc(step.Pods, func(pod plan.PodStep) bool { return pod.Name == name })
		}) {
			kept = append(kept, name)
		}
	}
	them := counted.Word(len(down), "it", "them")
	text := fmt.Sprintf("%s %s taken to stay not ready until the update replaces %s (--assume-ready takes %s to become ready)", counted.Some(down), counted.Word(len(down), "is", "are"), them, them)
	if len(kept) > 0 {
		text += fmt.Sprintf("; the update does not come to %s, which %s against the limit of unavailable pods", counted.Some(kept), counted.Word(len(kept), "counts", "count"))
	}
	return text
}

// Unready are the names of the workload's pods that are not ready, and are not being deleted.
func Unready(s plan.Snapshot) []string {
	var out []string
	for _, p := range s.Pods {
		if rules.Active(p) && !rules.Ready(p) {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return out
}

// MostWork is how much [Work] views do that only count pods: about half a minute. TooMuch is what they say
// beyond that.
const (
	MostWork = 20_000_000
	TooMuch  = "there are too many pods to count in passing; 'kubectl kruise plan' counts them"
)

// Work is what [Applied] costs for so many pods of which pace may change at a time: it looks at every pod in
// each pass, and takes as many passes as there are turns of pods.
func Work(pods, pace int) int {
	if pods > MostPods {
		return MostWork + 1
	}
	return pods * (200 + pods/max(pace, 1))
}

// Applied is what one write of an object does to the pods of its workload, until nothing happens any
// more. Where the snapshot has no pods, they are made up as the present object wants them, all
// available; names that the controllers draw at random are then those of the model.
func Applied(desired *cluster.Workload, s plan.Snapshot) (Timeline, error) {
	s, err := withItsPods(s)
	if err != nil {
		return Timeline{}, err
	}
	o := DefaultOptions()
	o.Gates, o.Start = s.Gates, RecordedAt(s.Pods)
	w, err := FromSnapshot(s, o)
	if err != nil {
		return Timeline{}, err
	}
	if err := w.Watch(s.Object().Ref); err != nil {
		return Timeline{}, err
	}
	w.pods.answerHooks(plan.DefaultHookAnswer)
	doc, err := document(desired)
	if err != nil {
		return Timeline{}, err
	}
	if err := w.Apply(doc); err != nil {
		return Timeline{}, err
	}
	minReady := plan.CurrentSpecPlan(plan.Snapshot{Workload: desired, Gates: s.Gates}).Limits.MinReady
	_, err = w.clock.settle(patience+2*time.Duration(minReady), longestRun)
	return w.Timeline(), err
}

// withItsPods is the snapshot of a workload with all its pods, if it has none.
func withItsPods(s plan.Snapshot) (plan.Snapshot, error) {
	if len(s.Pods) > 0 {
		return s, nil
	}
	pods := plan.CurrentSpecPlan(s).Limits.Replicas
	if pods == 0 {
		return s, nil
	}
	doc, err := document(s.Workload)
	if err != nil {
		return s, err
	}
	return Populate(doc, nil, Population{Pods: pods, Gates: s.Gates})
}

// UnfinishedError is why a plan cannot finish.
type UnfinishedError struct {
	Summary Summary
	// At names the step.
	At string
}

func (e *UnfinishedError) Error() string {
	s := e.Summary
	return fmt.Sprintf("the plan cannot finish: after %s it is %s%s: %s", s.Duration.Round(time.Second), s.Outcome, e.At, s.Reason)
}

// present is a pod that is there when a timeline begins.
type present struct {
	plan.Touch
	touched bool
	// place is that of the first record in which the pod is changed.
	place int
	// images is whether a container was given another image or started again.
	images bool
}

// fates reads what becomes of pods from records, in their order.
type fates struct {
	*recorder
	found map[string]*present
	// names are those of all pods that are created.
	names map[string]bool
	// active is how many pods there are, spare how many were created beyond what was wanted.
	active, spare int
}

func (f *fates) read(i int, rec *Record) {
	p := f.found[rec.UID]
	switch rec.Op {
	case OpCreate:
		if f.active >= f.wanted {
			f.spare++
		}
		f.active++
	case OpDelete:
		f.deleted(i, p)
		f.active--
	case OpInPlace, OpApplyImages, OpSidecarUpdate:
		if p == nil {
			return
		}
		f.touch(i, p)
		p.images = p.images || rec.Container != ""
		p.setMode(rules.ModeMetadataOnly)
	case OpStarted:
		if p != nil && p.touched && rec.From != "" {
			p.images = true
			p.setMode(rules.ModeMetadataOnly)
		}
	}
}

// setMode is what a pod goes through that stays.
func (p *present) setMode(mode rules.UpdateMode) {
	if p.Mode == rules.ModeRecreate || p.Mode == rules.ModeDelete {
		return
	}
	if p.Mode = mode; p.images {
		p.Mode = rules.ModeInPlace
	}
}

func (f *fates) touch(i int, p *present) {
	if p.touched {
		return
	}
	p.touched, p.place, p.Step = true, i, max(len(f.steps)-1, 0)
	for j := range f.steps {
		if f.steps[j].First > i {
			p.Step = j - 1
			break
		}
	}
	p.Step = max(p.Step, 0)
}

// deleted decides whether another pod takes the place of one: one of its name, or one that is
// missing or was created beyond what is wanted.
func (f *fates) deleted(i int, p *present) {
	surplus := f.active > f.wanted
	spare := surplus && f.spare > 0
	if spare {
		f.spare--
	}
	if p == nil {
		return
	}
	f.touch(i, p)
	p.Surplus = surplus
	switch named := kindOf(f.target) == byOrdinal; {
	case named && f.names[p.Name], !named && (!surplus || spare):
		p.Mode = rules.ModeRecreate
	default:
		p.Mode = rules.ModeDelete
	}
}
