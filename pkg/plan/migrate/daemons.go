package migrate

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// Handover is what is known of a DaemonSet that becomes one of the counterpart kind:
// the old one is deleted and leaves its pods, the new one, of the same name and
// selector, takes them over and replaces them node by node.
type Handover struct {
	// From is the workload that is deleted, UID the very object; "" where there was
	// none any more, on the way back.
	From Workload `json:"from"`
	UID  string   `json:"uid,omitempty"`
	To   Workload `json:"to"`
	// Surge is how many nodes may be without an available pod at a time.
	Surge int32 `json:"surge"`
	// Turn are the UIDs of the pods that are being replaced. Two processes that run the same
	// handover replace only these.
	Turn []string `json:"turn,omitempty"`
}

// Daemon is a pod that the selectors of both sides match, and no other owner controls.
type Daemon struct {
	Name, UID, Node string
	// Taken is true if the new workload controls it, Updated that it is of its newest
	// revision.
	Taken, Updated bool
	// Available pods are ready and not being deleted, Going ones are being deleted.
	Available, Going bool
}

// Turn is what is to be done with the pods of a handover now.
type Turn struct {
	// Verb is Replace, Wait or Done.
	Verb Verb
	// Pods are to be evicted.
	Pods []Daemon
	// Moved of All nodes have a pod of the new workload that is available, and no other.
	Moved, All int32
	Why        string
}

// Replace has pods evicted.
const Replace Verb = "replace"

// NextTurn reports what to do with the pods, once the controller of the new workload has
// seen it and wants a pod on so many nodes. A pod that the new workload took over and
// that is of its newest revision stays. A controller that takes none over makes its
// own beside them: then those that were left go.
func NextTurn(h Handover, desired int32, pods []Daemon) Turn {
	t := Turn{Verb: Wait, All: desired}
	free, costly, served := t.count(byNode(pods))
	if t.Pods = h.startedTurns(pods); len(t.Pods) > 0 {
		return t.replace("their turn has begun")
	}
	away := max(0, desired-served)
	room := min(max(0, h.Surge-away), int32(len(costly)))
	t.Pods = slices.Concat(free, costly[:room])
	switch {
	case len(t.Pods) > 0:
		return t.replace(Pace(h.Surge))
	case len(costly) > 0 || away > 0:
		t.Why = counted.With(int(away), "node has", "nodes have") + " no pod that is available"
		return t
	}
	if t.Why = unsettled(pods); t.Why == "" {
		t.Verb = Done
	}
	return t
}

// count goes over the nodes: pods that may be replaced for nothing, those that cost a node
// its only pod that serves, and the nodes that are served.
func (t *Turn) count(nodes map[string]node) (free, costly []Daemon, served int32) {
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[name]
		if n.available() {
			served++
		}
		if n.moved() {
			t.Moved++
		}
		for _, p := range n.podsToDelete() {
			if !p.Available || n.servedWithout(p) {
				free = append(free, p)
			} else {
				costly = append(costly, p)
			}
		}
	}
	return free, costly, served
}

// Pace reports how many nodes get their new pod at a time.
func Pace(nodes int32) string {
	if nodes == 1 {
		return "one node at a time"
	}
	return counted.Of(int(nodes), "node") + " at a time"
}

func (t Turn) replace(why string) Turn {
	t.Verb, t.Why = Replace, why
	return t
}

// startedTurns are the pods whose turn was recorded before, and that still exist.
func (h Handover) startedTurns(pods []Daemon) []Daemon {
	var out []Daemon
	for _, p := range pods {
		if !p.Going && slices.Contains(h.Turn, p.UID) {
			out = append(out, p)
		}
	}
	return out
}

// unsettled reports what must end before all is done; "" for nothing.
func unsettled(pods []Daemon) string {
	for _, p := range pods {
		switch {
		case p.Going:
			return "pod " + p.Name + " is going"
		case !p.Taken:
			return "pod " + p.Name + " has not been taken over yet"
		}
	}
	return ""
}

// node has the pods of one node.
type node []Daemon

func byNode(pods []Daemon) map[string]node {
	out := map[string]node{}
	for _, p := range pods {
		out[p.Node] = append(out[p.Node], p)
	}
	return out
}

func (n node) available() bool {
	return slices.ContainsFunc(n, func(p Daemon) bool { return p.Available })
}

func (n node) moved() bool {
	return len(n) == 1 && n[0].Taken && n[0].Updated && n[0].Available
}

// servedWithout reports whether the new workload serves the node without a pod.
func (n node) servedWithout(but Daemon) bool {
	return slices.ContainsFunc(n, func(p Daemon) bool { return p.UID != but.UID && p.Taken && p.Updated && p.Available })
}

// podsToDelete are the pods that have to go: those of older revisions, and those that were left
// where the new workload has made its own.
func (n node) podsToDelete() []Daemon {
	own := slices.ContainsFunc(n, func(p Daemon) bool { return p.Taken })
	var out []Daemon
	for _, p := range n {
		if !p.Going && (p.Taken && !p.Updated || !p.Taken && own) {
			out = append(out, p)
		}
	}
	return out
}
