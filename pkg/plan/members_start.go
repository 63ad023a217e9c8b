package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Phase is how far a rollout is, or one of its members.
type Phase string

// The phases.
const (
	// PhasePending: the member has not started.
	PhasePending Phase = "pending"
	// PhaseProgressing: steps are carried out. Of a whole, members may also start, or wait for
	// pods to be available.
	PhaseProgressing Phase = "progressing"
	// PhaseWaiting: it waits for a user, who must approve a step or resume it. Such a member
	// counts among those in progress.
	PhaseWaiting Phase = "waiting"
	// PhaseCompleted: it is completed, and so are all members.
	PhaseCompleted Phase = "completed"
	// PhaseFailed: it has failed, was aborted or rolled back; of a whole, members have failed,
	// and nothing more starts.
	PhaseFailed Phase = "failed"
	// PhaseAborted: a user has ended the whole, and no member is in progress.
	PhaseAborted Phase = "aborted"
)

// active reports whether a member has begun and not ended.
func (p Phase) active() bool { return p == PhaseProgressing || p == PhaseWaiting }

// ended reports whether nothing more happens to a member by itself.
func (p Phase) ended() bool { return p == PhaseCompleted || p == PhaseFailed }

// RolloutStatus is the status of a rollout.
type RolloutStatus struct {
	Phase Phase
	// Reason is why it is in that phase, in one line.
	Reason string
	// Members are in the order of the rollout.
	Members []MemberStatus
}

// MemberStatus is the status of one member.
type MemberStatus struct {
	Ref   cluster.Ref
	Wave  int
	Phase Phase
	// Untouched is true for a member of a rollout that is rolled back which has never started, or has
	// updated no pod: there is nothing to roll back.
	Untouched bool
	// Reason is why it does not start, or why it failed; it may be empty.
	Reason string
	// Unavailable is how many of its pods are unavailable now, whatever the reason.
	Unavailable int
}

// Start decides which members start now, by their indexes in this order, and how far the whole is
// then: each pending member that does not start has the reason. It depends on its arguments alone,
// so that any process comes to the same decision; members are in the order of the rollout.
func (r *Rollout) Start(members []MemberStatus) (start []int, now RolloutStatus) {
	now.Members = slices.Clone(members)
	for i, m := range r.Members {
		now.Members[i].Ref, now.Members[i].Wave = m.Ref, m.Wave
	}
	n := newStarter(r, now.Members)
	for _, wave := range r.Waves() {
		for _, i := range wave {
			one := &now.Members[i]
			if one.Phase != PhasePending {
				continue
			}
			if one.Reason = n.blocked(i); one.Reason == "" {
				start = append(start, i)
				n.start(i)
			}
		}
	}
	now.Phase, now.Reason = n.outcome(len(start))
	return start, now
}

// Observe returns the status of a rollout for a reader of the records, which starts nothing and does
// not know the shared budgets: a member that could start is not in progress yet.
func (r *Rollout) Observe(members []MemberStatus) RolloutStatus {
	start, now := r.Start(members)
	if len(start) == 0 {
		return now
	}
	active := 0
	for _, m := range members {
		if m.Phase.active() {
			active++
		}
	}
	now.Reason = fmt.Sprintf("%s, %d in progress, %d can start", r.reached(members), active, len(start))
	for _, i := range start {
		now.Members[i].Reason = "can start, where the budgets that it shares leave room"
	}
	return now
}

// reached is how many members are where they should be: completed, or rolled back of those that had begun.
func (r *Rollout) reached(status []MemberStatus) string {
	done, untouched := 0, 0
	for _, s := range status {
		switch {
		case s.Untouched:
			untouched++
		case s.Phase == PhaseCompleted:
			done++
		}
	}
	if !r.Back {
		return fmt.Sprintf("%d of %d completed", done, len(status))
	}
	text := fmt.Sprintf("%d of %d rolled back", done, len(status)-untouched)
	if untouched > 0 {
		text += fmt.Sprintf(", %d not started", untouched)
	}
	return text
}

// starter is one decision about who starts.
type starter struct {
	*Rollout

	status []MemberStatus
	index  map[cluster.Ref]int
	// active are the members in progress, failures how many have failed.
	active   []bool
	count    int
	failures int
	// unfinished is the lowest wave with a member that may still do something.
	unfinished int
	never      []string
}

func newStarter(r *Rollout, status []MemberStatus) *starter {
	n := &starter{Rollout: r, status: status, index: map[cluster.Ref]int{}, active: make([]bool, len(r.Members)), never: make([]string, len(r.Members))}
	for i, m := range r.Members {
		n.index[m.Ref] = i
	}
	for i, s := range status {
		if s.Phase.active() {
			n.start(i)
		}
		if s.Phase == PhaseWaiting && r.Bounds.PassWaiting {
			n.count--
		}
		if s.Phase == PhaseFailed {
			n.failures++
		}
	}
	n.markUnstartable()
	first := true
	for i, m := range r.Members {
		if open := !status[i].Phase.ended() && n.never[i] == ""; open && (first || m.Wave < n.unfinished) {
			n.unfinished, first = m.Wave, false
		}
	}
	return n
}

// markUnstartable finds the members that never start, since one that they depend on has failed.
func (n *starter) markUnstartable() {
	for changed := true; changed; {
		changed = false
		for i, m := range n.Members {
			if n.status[i].Phase != PhasePending || n.never[i] != "" {
				continue
			}
			for _, ref := range m.DependsOn {
				j, ok := n.index[ref]
				if ok && (n.status[j].Phase == PhaseFailed || n.never[j] != "") {
					n.never[i], changed = fmt.Sprintf("depends on %s, which is not completed", n.MemberName(ref)), true
					break
				}
			}
		}
	}
}

func (n *starter) start(i int) {
	n.active[i] = true
	n.count++
}

func (n *starter) stopped() bool { return n.failures > n.Bounds.MaxFailures }

// blocked reports why a member does not start now; "" where it does.
func (n *starter) blocked(i int) string {
	m := n.Members[i]
	switch {
	case n.Aborted != "":
		return "the group was aborted"
	case n.stopped():
		return fmt.Sprintf("%s failed, and the limit is %d", rolloutCount(n.failures), n.Bounds.MaxFailures)
	case n.never[i] != "":
		return n.never[i]
	case n.Paused != "":
		return "the group is paused"
	case m.Wave > n.unfinished:
		return fmt.Sprintf("wave %d has not ended", n.unfinished)
	}
	for _, ref := range m.DependsOn {
		if j, ok := n.index[ref]; ok && n.status[j].Phase != PhaseCompleted {
			return fmt.Sprintf("depends on %s, which is not completed", n.MemberName(ref))
		}
	}
	if most := n.Bounds.Parallel; most > 0 && n.count >= most {
		return fmt.Sprintf("%s in progress, and at most %d at a time", rolloutCount(n.count), most)
	}
	if why := n.overUnavailableLimit(i); why != "" {
		return why
	}
	return n.sharedBudgetFull(i)
}

// overUnavailableLimit reports why a member would make more pods unavailable than the group may. One whose own
// pods are unavailable already takes no further ones by that, and may be what mends them.
func (n *starter) overUnavailableLimit(i int) string {
	most := n.Bounds.MaxUnavailable
	more := max(n.Members[i].takes()-n.status[i].Unavailable, 0)
	if most == 0 || more == 0 {
		return ""
	}
	used := 0
	for j, s := range n.status {
		used += n.limitShare(j, n.Members[j].takes(), s.Unavailable)
	}
	if used+more <= most {
		return ""
	}
	return fmt.Sprintf("%s of all rollouts %s or may become unavailable, it needs %d more, and the limit is %d", podCount(used), counted.Word(used, "is", "are"), more, most)
}

// limitShare is what a member counts for a limit: one in progress may make its pods unavailable
// at any moment.
func (n *starter) limitShare(i, takes, unavailable int) int {
	if n.active[i] {
		return max(takes, unavailable)
	}
	return unavailable
}

// sharedBudgetFull reports which shared budget has no room for a member. One that no other uses is for
// the member's own plan to keep.
func (n *starter) sharedBudgetFull(i int) string {
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

// outcome is the phase of the whole and its reason, given how many start now.
func (n *starter) outcome(starts int) (Phase, string) {
	counts := map[Phase]int{}
	for _, s := range n.status {
		counts[s.Phase]++
	}
	active := counts[PhaseProgressing] + counts[PhaseWaiting]
	left := counts[PhasePending]
	for i, s := range n.status {
		if s.Phase == PhasePending && n.never[i] != "" {
			left--
		}
	}
	switch {
	case starts > 0 || counts[PhaseProgressing] > 0:
		return PhaseProgressing, fmt.Sprintf("%s, %d in progress", n.reached(n.status), active+starts)
	case n.Aborted != "" && active == 0:
		return PhaseAborted, "aborted: " + n.reached(n.status) + others(counts)
	case active > 0:
		return PhaseWaiting, counted.With(active, "rollout waits", "rollouts wait") + " for a user"
	case counts[PhaseCompleted] == len(n.Members):
		return PhaseCompleted, n.reached(n.status)
	case left == 0 || n.stopped():
		return PhaseFailed, n.failed(counts)
	case n.Paused != "":
		return PhaseWaiting, "the group is paused"
	}
	return PhaseProgressing, "nothing can start: " + n.firstReason()
}

// others counts the members of an aborted group that are not completed.
func others(counts map[Phase]int) string {
	text := ""
	if n := counts[PhaseFailed]; n > 0 {
		text += fmt.Sprintf(", %d failed or aborted", n)
	}
	if n := counts[PhasePending]; n > 0 {
		text += fmt.Sprintf(", %d not started", n)
	}
	return text
}

// failed names the members that have failed.
func (n *starter) failed(counts map[Phase]int) string {
	var names []string
	for i, s := range n.status {
		if s.Phase == PhaseFailed {
			names = append(names, n.MemberName(n.Members[i].Ref))
		}
	}
	text := fmt.Sprintf("%s failed: %s", rolloutCount(counts[PhaseFailed]), some(names))
	if counts[PhasePending] > 0 {
		text += fmt.Sprintf("; %d not started", counts[PhasePending])
	}
	return text
}

// mostNames is how many names a line has.
const mostNames = 6

func some(names []string) string {
	if len(names) > mostNames {
		names = append(slices.Clone(names[:mostNames]), fmt.Sprintf("and %d more", len(names)-mostNames))
	}
	return strings.Join(names, ", ")
}

// firstReason is the reason of the first member that is pending.
func (n *starter) firstReason() string {
	for _, s := range n.status {
		if s.Phase == PhasePending {
			return s.Reason
		}
	}
	return ""
}

func rolloutCount(n int) string { return counted.Of(n, "rollout") }

func podCount(n int) string { return counted.Of(n, "pod") }
