package rollout

import (
	"cmp"
	"slices"
	"strings"
)

// order is how the table of pods is sorted; its zero value has the pods first that somebody
// has to look at.
type order struct {
	by     int
	turned bool
}

// orders are what pods can be sorted by; the way up is the one that is wanted more often.
var orders = []struct {
	name    string
	compare func(a, b *podRow) int
}{
	{"state", func(a, b *podRow) int { return cmp.Compare(urgency[a.cell], urgency[b.cell]) }},
	{"name", func(a, b *podRow) int { return strings.Compare(a.name, b.name) }},
	{"revision", func(a, b *podRow) int { return strings.Compare(a.revision, b.revision) }},
	{"restarts", func(a, b *podRow) int { return cmp.Compare(b.restarts, a.restarts) }},
	{"age", func(a, b *podRow) int { return b.pod.Created.Compare(a.pod.Created) }},
	{"node", func(a, b *podRow) int { return strings.Compare(a.pod.Node, b.pod.Node) }},
	{"ready", func(a, b *podRow) int { return cmp.Compare(a.ready, b.ready) }},
	{"why", func(a, b *podRow) int {
		return cmp.Or(compareBool(a.why == "", b.why == ""), strings.Compare(a.why, b.why))
	}},
}

// urgency is the order of states: what fails, what is on its way, what is well.
var urgency = [...]int{newBad: 0, oldBad: 1, newDown: 2, oldDown: 3, leaving: 4, newReady: 5, oldReady: 6}

func (o order) name() string { return orders[o.by].name }

func (o order) next() order { return order{by: (o.by + 1) % len(orders)} }

// sort puts rows in order, those that are alike by name.
func (o order) sort(rows []podRow) {
	compare := orders[o.by].compare
	slices.SortFunc(rows, func(a, b podRow) int {
		c := compare(&a, &b)
		if o.turned {
			c = -c
		}
		return cmp.Or(c, strings.Compare(a.name, b.name), strings.Compare(a.pod.UID, b.pod.UID))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
