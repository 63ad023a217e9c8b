package world

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// Pod is a pod of a workload, and what the workload makes of it.
type Pod struct {
	*cluster.Pod
	State PodState
	// Updated is true at the update revision.
	Updated bool
}

// PodState is how a pod is doing.
type PodState uint8

// The states of pods at the update revision, of pods at another one, and of those that are deleted.
const (
	Ready PodState = iota
	Starting
	Failing
	OutdatedReady
	OutdatedUnavailable
	OutdatedFailing
	Terminating
	PodStates
)

// String is the state in a word or two.
func (s PodState) String() string {
	return [...]string{"new", "starting", "failing", "old", "unavailable", "old, failing", "terminating"}[s]
}

// Members are the pods of the workload with their states, in the order of the snapshot.
func (d *Detail) Members() []Pod {
	if now := d.Snapshot.Pods; len(now) == len(d.classified) && (len(now) == 0 || &now[0] == &d.classified[0]) {
		return d.members
	}
	return d.classify()
}

// classify works out the states of all pods.
func (d *Detail) classify() []Pod {
	fails := d.failing()
	out := make([]Pod, len(d.Snapshot.Pods))
	for i, p := range d.Snapshot.Pods {
		updated := d.Updated[p.UID]
		out[i] = Pod{p, stateOf(p, updated, fails), updated}
	}
	return out
}

func stateOf(p *cluster.Pod, updated bool, fails func(*cluster.Pod) bool) PodState {
	ready := p.IsReady()
	switch {
	case p.Deleting:
		return Terminating
	case updated && ready:
		return Ready
	case updated && fails(p):
		return Failing
	case updated:
		return Starting
	case ready:
		return OutdatedReady
	case fails(p):
		return OutdatedFailing
	}
	return OutdatedUnavailable
}

// failing reports which pods do not become ready by themselves: one of their containers
// waits for what does not come, or the diagnosis names them for a crash, an image or a node.
func (d *Detail) failing() func(*cluster.Pod) bool {
	named := map[string]bool{}
	for _, c := range d.Diagnosis.Causes {
		if c.Stuck && slices.Contains([]string{plan.GateCrash, plan.GateImage, plan.GateSchedule}, c.Gate) {
			for _, name := range c.Pods {
				named[name] = true
			}
		}
	}
	return func(p *cluster.Pod) bool {
		if p.Deleting || p.IsReady() {
			return false
		}
		_, bad := diagnose.Troubled(p)
		return bad || named[p.Name]
	}
}

// Since returns the pods that are not as they were in an earlier detail of the workload: those
// that have gone or were replaced, and those that have come or replace others. Pods never change, so
// it compares pointers; what it costs beyond that depends on the changes alone, as long as
// snapshots keep their order.
func (d *Detail) Since(earlier *Detail) (gone, come []Pod) {
	was, now := earlier.Members(), d.Members()
	i, j := 0, 0
	for i < len(was) && j < len(now) {
		if same := equalFrom(was[i:], now[j:]); same > 0 {
			i, j = i+same, j+same
			continue
		}
		order := cmp.Or(strings.Compare(was[i].Namespace, now[j].Namespace), strings.Compare(was[i].Name, now[j].Name))
		if order <= 0 {
			gone = append(gone, was[i])
			i++
		}
		if order >= 0 {
			come = append(come, now[j])
			j++
		}
	}
	return append(gone, was[i:]...), append(come, now[j:]...)
}

// equalFrom is how many pods two lists have in common at their beginnings.
func equalFrom(a, b []Pod) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// PodName is how a pod of a workload is named: where the workload has no namespace, as
// a SidecarSet, that of the pod and a slash stand before its name.
func PodName(workload cluster.Ref, p *cluster.Pod) string {
	if workload.Namespace != "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// Pod returns a pod by its [PodName], nil without it.
func (d *Detail) Pod(name string) *cluster.Pod {
	for _, p := range d.Snapshot.Pods {
		if PodName(d.Ref, p) == name {
			return p
		}
	}
	return nil
}

// PodRef names a pod of a workload as an object.
func PodRef(workload cluster.Ref, name string) cluster.Ref {
	ref := cluster.Ref{Kind: "Pod", Namespace: workload.Namespace, Name: name}
	if workload.Namespace != "" {
		return ref
	}
	if space, rest, ok := strings.Cut(name, "/"); ok {
		ref.Namespace, ref.Name = space, rest
	}
	return ref
}
