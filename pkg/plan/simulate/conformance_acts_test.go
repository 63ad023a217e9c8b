package simulate

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// acting are the ops by which a controller acts on pods.
var acting = []Op{OpInPlace, OpApplyImages, OpSidecarUpdate, OpMarkDelete, OpDelete, OpCreate}

// act is one op of a controller, recorded or simulated.
type act struct {
	at       float64
	op       Op
	uid      string
	revision string
	// marked pods are deleted in no order: all of them go.
	marked bool
}

// mark finds the deletions of pods of a CloneSet that come in no order, because
// all of them go: marked ones, and old ones when none of their revision is left.
func mark(kind string, acts []act, before map[string]*cluster.Pod) {
	marked, gone := map[string]bool{}, map[string]bool{}
	for uid, p := range before {
		marked[uid] = rules.SpecifiedDelete(p)
	}
	for _, a := range acts {
		marked[a.uid] = marked[a.uid] || a.op == OpMarkDelete
		gone[a.uid] = gone[a.uid] || a.op == OpDelete
	}
	left := map[string]bool{}
	for uid, p := range before {
		if !gone[uid] {
			left[hashOf(p)] = true
		}
	}
	for i, a := range acts {
		p := before[a.uid]
		acts[i].marked = kind == "CloneSet" && (marked[a.uid] || p != nil && !left[hashOf(p)])
	}
}

// actGroup are acts without a pause, or without a pod becoming ready, between them.
type actGroup []act

func recordedActs(s conformance.RolloutStep) (acts []act) {
	for _, op := range s.Trace.Trace {
		if slices.Contains(acting, Op(op.Op)) {
			a := act{at: op.T, op: Op(op.Op), uid: op.UID}
			if text, ok := op.Revision.(string); ok {
				a.revision = cluster.Hash(text)
			}
			acts = append(acts, a)
		}
	}
	return acts
}

func ourActs(b *bed) (acts []act, ready []float64) {
	for _, r := range b.Timeline().Records {
		if slices.Contains(acting, r.Op) {
			acts = append(acts, act{at: r.At.Seconds(), op: r.Op, uid: r.UID, revision: b.spelling.Replace(cluster.Hash(r.Revision))})
		}
		if r.Op == OpReady {
			ready = append(ready, r.At.Seconds())
		}
	}
	return acts, ready
}

func recordedReady(s conformance.RolloutStep) (ready []float64) {
	for _, op := range s.Trace.Trace {
		if op.Op == string(OpReady) {
			ready = append(ready, op.T)
		}
	}
	return ready
}

// pause is how long nothing must happen between two waves.
const pause = 0.45

func waves(acts []act) (out []actGroup) {
	for i, a := range acts {
		if i == 0 || a.at-acts[i-1].at >= pause {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], a)
	}
	return out
}

func batches(acts []act, ready []float64) (out []actGroup) {
	for i, a := range acts {
		between := i > 0 && slices.ContainsFunc(ready, func(t float64) bool { return t >= acts[i-1].at && t <= a.at })
		if i == 0 || between {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], a)
	}
	return out
}

// compareActs compares what controllers did to pods: how often, to which, in
// which order.
func compareActs(s conformance.RolloutStep, b *bed, before map[string]*cluster.Pod) error {
	ours, ready := ourActs(b)
	theirs := recordedActs(s)
	mark(s.Kind, ours, before)
	mark(s.Kind, theirs, before)
	if err := differentCounts(theirs, ours); err != nil {
		return fmt.Errorf("%w\n  recorded: %s\n  ours:     %s", err, text(waves(theirs)), text(waves(ours)))
	}
	classes := ties(s, before)
	var first error
	// Where waves and batches differ, both are right.
	for _, want := range [][]actGroup{waves(theirs), batches(theirs, recordedReady(s))} {
		for _, got := range [][]actGroup{waves(ours), batches(ours, ready)} {
			err := differentGroups(want, got, classes)
			if err == nil {
				return nil
			}
			if first == nil {
				first = fmt.Errorf("%w\n  recorded: %s\n  ours:     %s", err, text(want), text(got))
			}
		}
	}
	return first
}

func compareCounts(s conformance.RolloutStep, b *bed) error {
	ours, _ := ourActs(b)
	theirs := recordedActs(s)
	if err := differentCounts(theirs, ours); err != nil {
		return fmt.Errorf("%w\n  recorded: %s\n  ours:     %s", err, text(waves(theirs)), text(waves(ours)))
	}
	return nil
}

func differentCounts(want, got []act) error {
	var errs []error
	for _, op := range acting {
		is := func(a act) bool { return a.op == op }
		if w, g := number2(want, is), number2(got, is); w != g {
			errs = append(errs, fmt.Errorf("%s: recorded %d, ours %d", op, w, g))
		}
	}
	return errors.Join(errs...)
}

func number2(list []act, is func(act) bool) (n int) {
	for _, a := range list {
		if is(a) {
			n++
		}
	}
	return n
}

// differentGroups compares groups by what each op does to which pods, a pod
// standing for all that tie with it.
func differentGroups(want, got []actGroup, classes map[string]string) error {
	if len(want) != len(got) {
		return fmt.Errorf("recorded in %d groups, ours in %d", len(want), len(got))
	}
	for i := range want {
		if w, g := want[i].spelt(classes), got[i].spelt(classes); w != g {
			return fmt.Errorf("group %d: recorded %s, ours %s", i+1, w, g)
		}
	}
	return nil
}

// spelt writes the acts of a group as a sorted list in which pods that tie look
// alike, and new pods are known by their revision.
func (g actGroup) spelt(classes map[string]string) string {
	out := make([]string, 0, len(g))
	for _, a := range g {
		name, known := classes[a.uid]
		switch {
		case a.op == OpCreate:
			name = "of " + a.revision
		case a.op == OpDelete && a.marked:
			name = "of one of many"
		case !known:
			name = "a new pod"
		}
		out = append(out, string(a.op)+" "+name)
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

func text(list []actGroup) string {
	var out []string
	for _, g := range list {
		var acts []string
		for _, a := range g {
			name := a.uid
			if a.op == OpCreate {
				name += "=" + a.revision
			}
			acts = append(acts, string(a.op)+" "+name)
		}
		out = append(out, fmt.Sprintf("[%.2f: %s]", g[0].at, strings.Join(acts, ", ")))
	}
	return strings.Join(out, " ")
}

// ties reports which pods Kruise treats alike: those that agree in all that the
// order looks at. The nodes of a DaemonSet come in random order.
func ties(s conformance.RolloutStep, before map[string]*cluster.Pod) map[string]string {
	out := map[string]string{}
	for uid, p := range before {
		ready, _ := p.Condition("Ready")
		restarts := 0
		for _, c := range p.Containers {
			restarts = max(restarts, c.Restarts)
		}
		key := fmt.Sprint(p.Phase, ready.Status, ready.Since.Unix(), restarts, p.Created.Unix(), rules.RevisionOf(p), rules.StateOf(p), own(p))
		switch s.Kind {
		case "StatefulSet":
			key = p.Name
		case "DaemonSet":
			key = rules.RevisionOf(p)
		}
		out[uid] = key
	}
	return short(out)
}

// short gives each class the name of its first pod.
func short(classes map[string]string) map[string]string {
	names, out := map[string]string{}, map[string]string{}
	uids := make([]string, 0, len(classes))
	for uid := range classes {
		uids = append(uids, uid)
	}
	sort.Slice(uids, func(i, j int) bool {
		return len(uids[i]) < len(uids[j]) || (len(uids[i]) == len(uids[j]) && uids[i] < uids[j])
	})
	for _, uid := range uids {
		if names[classes[uid]] == "" {
			names[classes[uid]] = uid
		}
		out[uid] = names[classes[uid]]
	}
	return out
}

// own are the labels and annotations that a user has put on one pod.
func own(p *cluster.Pod) string {
	var out []string
	for k, v := range p.Labels {
		if !strings.Contains(k, "kruise.io") && !strings.Contains(k, "kubernetes.io") && !strings.HasSuffix(k, "-hash") {
			out = append(out, k+"="+v)
		}
	}
	for _, key := range []string{kruise.SpecifiedDeleteLabel, "lab.test/unready", "controller.kubernetes.io/pod-deletion-cost"} {
		out = append(out, p.Labels[key]+p.Annotations[key])
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

func compareAnswers(s conformance.RolloutStep, got []bool) error {
	var want []bool
	for _, r := range s.Trace.Result {
		want = append(want, r.Accepted)
	}
	if !slices.Equal(want, got) && (slices.Contains(want, false) || slices.Contains(got, false)) {
		return fmt.Errorf("accepted: recorded %v, ours %v", want, got)
	}
	return nil
}

func compareSettled(s conformance.RolloutStep, a conformance.RolloutAct, got bool) error {
	if _, waits := a.Wait(); waits && s.Trace.Settled && !got {
		return fmt.Errorf("recorded as settled, ours has not settled after %v", longest)
	}
	return nil
}
