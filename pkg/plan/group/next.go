package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Phase is how far one member is.
type Phase string

// The phases.
const (
	// Pending: its rollout has not started.
	Pending Phase = "pending"
	// Progressing: steps of its rollout are carried out.
	Progressing Phase = "progressing"
	// Waiting: its rollout waits for a user, who must approve a step or resume it. It
	// counts among those in progress.
	Waiting Phase = "waiting"
	// Completed: its rollout is completed.
	Completed Phase = "completed"
	// Failed: its rollout has failed, was aborted or rolled back.
	Failed Phase = "failed"
)

// active reports whether a member has begun and not ended.
func (p Phase) active() bool { return p == Progressing || p == Waiting }

// ended reports whether nothing more happens to a member by itself.
func (p Phase) ended() bool { return p == Completed || p == Failed }

// Status is the status of one member.
type Status struct {
	Phase Phase
	// Unavailable is how many of its pods are unavailable now, whatever the reason.
	Unavailable int
	// Untouched is true for a member of a group that is rolled back whose rollout has never started, or has
	// updated no pod: there is nothing to roll back.
	Untouched bool
}

// Outcome is the status of a group as a whole.
type Outcome string

// The outcomes.
const (
	// InProgress: members are in progress, or start, or wait for pods to be available.
	InProgress Outcome = "progressing"
	// OnHold: a user has paused the group, or all that is in progress waits for one.
	OnHold Outcome = "waiting"
	// Done: every member is completed.
	Done Outcome = "completed"
	// HasFailed: members have failed, and nothing more starts.
	HasFailed Outcome = "failed"
	// Ended: a user has ended the group, and no member is in progress.
	Ended Outcome = "aborted"
)

// Control has the decisions of users about a group as a whole.
type Control struct {
	// Paused has no further member start, and Aborted none any more.
	Paused, Aborted bool
	// Back has the members rolled back.
	Back bool
}

// Decision is what is to be done now.
type Decision struct {
	// Start are indexes of members that start now, in this order.
	Start   []int
	Outcome Outcome
	// Reason is why the group is in its state, in one line.
	Reason string
	// Blocked has the reason for each pending member that does not start.
	Blocked map[int]string
}

// Next decides which members start now. It depends on its arguments alone, so that any
// process comes to the same decision; status is in the order of the members.
func Next(g Group, status []Status, c Control) Decision {
	n := newNext(g, status)
	d := Decision{Blocked: map[int]string{}}
	for _, wave := range g.Waves() {
		for _, i := range wave {
			if status[i].Phase != Pending {
				continue
			}
			why := n.blocked(i, c)
			if why == "" {
				d.Start = append(d.Start, i)
				n.start(i)
				continue
			}
			d.Blocked[i] = why
		}
	}
	d.Outcome, d.Reason = n.outcome(d, c)
	return d
}

// Observe returns the state of a group for a reader of the records, which starts nothing and does
// not know the shared budgets: a member that could start is not in progress yet.
func Observe(g Group, status []Status, c Control) Decision {
	d := Next(g, status, c)
	if len(d.Start) == 0 {
		return d
	}
	active := 0
	for _, s := range status {
		if s.Phase.active() {
			active++
		}
	}
	d.Reason = fmt.Sprintf("%s, %d in progress, %d can start", reached(status, c), active, len(d.Start))
	for _, i := range d.Start {
		d.Blocked[i] = "can start, where the budgets that it shares leave room"
	}
	d.Start = nil
	return d
}

// reached is how many members are where they should be: completed, or rolled back of those that had begun.
func reached(status []Status, c Control) string {
	done, untouched := 0, 0
	for _, s := range status {
		switch {
		case s.Untouched:
			untouched++
		case s.Phase == Completed:
			done++
		}
	}
	if !c.Back {
		return fmt.Sprintf("%d of %d completed", done, len(status))
	}
	text := fmt.Sprintf("%d of %d rolled back", done, len(status)-untouched)
	if untouched > 0 {
		text += fmt.Sprintf(", %d not started", untouched)
	}
	return text
}

// next is one decision.
type next struct {
	Group
	status []Status
	index  map[cluster.Ref]int
	// active are the members in progress, failures how many have failed.
	active   []bool
	count    int
	failures int
	// unfinished is the lowest wave with a member that may still do something.
	unfinished int
	never      []string
}

func newNext(g Group, status []Status) *next {
	n := &next{Group: g, status: status, index: map[cluster.Ref]int{}, active: make([]bool, len(g.Members)), never: make([]string, len(g.Members))}
	for i, m := range g.Members {
		n.index[m.Ref] = i
	}
	for i, s := range status {
		if s.Phase.active() {
			n.start(i)
		}
		if s.Phase == Failed {
			n.failures++
		}
	}
	n.markUnstartable()
	first := true
	for i, m := range g.Members {
		if open := !status[i].Phase.ended() && n.never[i] == ""; open && (first || m.Wave < n.unfinished) {
			n.unfinished, first = m.Wave, false
		}
	}
	return n
}

// markUnstartable finds the members that never start, since one that they depend on has failed.
func (n *next) markUnstartable() {
	for changed := true; changed; {
		changed = false
		for i, m := range n.Members {
			if n.status[i].Phase != Pending || n.never[i] != "" {
				continue
			}
			for _, ref := range m.DependsOn {
				j, ok := n.index[ref]
				if ok && (n.status[j].Phase == Failed || n.never[j] != "") {
					n.never[i], changed = fmt.Sprintf("depends on %s, which is not completed", n.Name(ref)), true
					break
				}
			}
		}
	}
}

func (n *next) start(i int) {
	n.active[i] = true
	n.count++
}

func (n *next) stopped() bool { return n.failures > n.Limits.MaxFailures }

// blocked reports why a member does not start now; "" where it does.
func (n *next) blocked(i int, c Control) string {
	m := n.Members[i]
	switch {
	case c.Aborted:
		return "the group was aborted"
	case n.stopped():
		return fmt.Sprintf("%s failed, and the limit is %d", rollouts(n.failures), n.Limits.MaxFailures)
	case n.never[i] != "":
		return n.never[i]
	case c.Paused:
		return "the group is paused"
	case m.Wave > n.unfinished:
		return fmt.Sprintf("wave %d has not ended", n.unfinished)
	}
	for _, ref := range m.DependsOn {
		if j, ok := n.index[ref]; ok && n.status[j].Phase != Completed {
			return fmt.Sprintf("depends on %s, which is not completed", n.Name(ref))
		}
	}
	if most := n.Limits.Parallel; most > 0 && n.count >= most {
		return fmt.Sprintf("%s in progress, and at most %d at a time", rollouts(n.count), most)
	}
	if why := n.overUnavailableLimit(i); why != "" {
		return why
	}
	return n.sharedBudgetFull(i)
}

// overUnavailableLimit reports why a member would make more pods unavailable than the group may. One whose own
// pods are unavailable already takes no further ones by that, and may be what mends them.
func (n *next) overUnavailableLimit(i int) string {
	most := n.Limits.MaxUnavailable
	more := max(n.Members[i].Takes-n.status[i].Unavailable, 0)
	if most == 0 || more == 0 {
		return ""
	}
	used := 0
	for j, s := range n.status {
		used += n.limitShare(j, n.Members[j].Takes, s.Unavailable)
	}
	if used+more <= most {
		return ""
	}
	return fmt.Sprintf("%s of all rollouts %s or may become unavailable, it needs %d more, and the limit is %d", pods(used), counted.Word(used, "is", "are"), more, most)
}

// limitShare is what a member counts for a limit: one in progress may make its pods unavailable
// at any moment.
func (n *next) limitShare(i, takes, unavailable int) int {
	if n.active[i] {
		return max(takes, unavailable)
	}
	return unavailable
}

// sharedBudgetFull reports which shared budget has no room for a member. One that no other uses is for
// the member's own plan to keep.
func (n *next) sharedBudgetFull(i int) string {
	for _, b := range n.Budgets {
		takes, ok := b.Takes[i]
		if !ok || takes == 0 {
			continue
		}
		used, others := b.Elsewhere, false
		for j := range n.Members {
			if share, ok := b.Takes[j]; ok && j != i {
				used += n.limitShare(j, share, min(n.status[j].Unavailable, share))
				others = others || n.active[j]
			}
		}
		if others && used+takes > b.Allowed {
			return fmt.Sprintf("%s allows %s, %d %s taken, and it needs %d", b.Name, counted.Of(b.Allowed, "unavailable pod"), used, counted.Word(used, "is", "are"), takes)
		}
	}
	return ""
}

// outcome is the status of the group, given who starts now.
func (n *next) outcome(d Decision, c Control) (Outcome, string) {
	counts := map[Phase]int{}
	for _, s := range n.status {
		counts[s.Phase]++
	}
	active := counts[Progressing] + counts[Waiting]
	left := counts[Pending]
	for i, s := range n.status {
		if s.Phase == Pending && n.never[i] != "" {
			left--
		}
	}
	switch {
	case len(d.Start) > 0 || counts[Progressing] > 0:
		return InProgress, fmt.Sprintf("%s, %d in progress", reached(n.status, c), active+len(d.Start))
	case c.Aborted && active == 0:
		return Ended, "aborted: " + reached(n.status, c) + others(counts)
	case active > 0:
		return OnHold, fmt.Sprintf("%s for a user", waits(active))
	case counts[Completed] == len(n.Members):
		return Done, reached(n.status, c)
	case left == 0 || n.stopped():
		return HasFailed, n.failed(counts)
	case c.Paused:
		return OnHold, "the group is paused"
	}
	return InProgress, "nothing can start: " + first(d.Blocked)
}

// others counts the members of an aborted group that are not completed.
func others(counts map[Phase]int) string {
	text := ""
	if n := counts[Failed]; n > 0 {
		text += fmt.Sprintf(", %d failed or aborted", n)
	}
	if n := counts[Pending]; n > 0 {
		text += fmt.Sprintf(", %d not started", n)
	}
	return text
}

// failed names the members that have failed.
func (n *next) failed(counts map[Phase]int) string {
	var names []string
	for i, s := range n.status {
		if s.Phase == Failed {
			names = append(names, n.Name(n.Members[i].Ref))
		}
	}
	text := fmt.Sprintf("%s failed: %s", rollouts(counts[Failed]), some(names))
	if counts[Pending] > 0 {
		text += fmt.Sprintf("; %d not started", counts[Pending])
	}
	return text
}

// most is how many names a line has.
const most = 6

func some(names []string) string {
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// first is the reason of the first member that is blocked.
func first(blocked map[int]string) string {
	least := -1
	for i := range blocked {
		if least < 0 || i < least {
			least = i
		}
	}
	return blocked[least]
}

func rollouts(n int) string { return counted.Of(n, "rollout") }

func pods(n int) string { return counted.Of(n, "pod") }

func waits(n int) string { return counted.With(n, "rollout waits", "rollouts wait") }
