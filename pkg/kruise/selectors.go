package kruise

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// label is one key with one value or, where any is set, with whichever value.
type label struct {
	key, value string
	any        bool
}

// SelectorIndex holds selectors by their places in a list, and finds those that may match some
// labels without evaluating each. Its answers have every match and some false ones: the caller
// evaluates these. It is safe for concurrent readers.
type SelectorIndex struct {
	// asking are the places of selectors that only match where a label is there; each
	// selector is filed under one of its requirements.
	asking map[label][]int
	// rest are the places of selectors without such a requirement.
	rest []int
}

// NewSelectorIndex files the selectors. A selector that matches nothing, and nil, is no
// candidate for any labels.
func NewSelectorIndex(list []labels.Selector) *SelectorIndex {
	x := &SelectorIndex{asking: map[label][]int{}}
	for place, s := range list {
		if s != nil {
			x.add(place, s)
		}
	}
	return x
}

// add files a selector under the requirement by which the fewest selectors are filed yet.
func (x *SelectorIndex) add(place int, s labels.Selector) {
	all, selectable := s.Requirements()
	if !selectable {
		return
	}
	best, least := []label(nil), -1
	for _, r := range all {
		wanted := values(r)
		if len(wanted) == 0 {
			continue
		}
		n := 0
		for _, l := range wanted {
			n += len(x.asking[l])
		}
		if least < 0 || n < least {
			best, least = wanted, n
		}
	}
	if best == nil {
		x.rest = append(x.rest, place)
	}
	for _, l := range best {
		x.asking[l] = append(x.asking[l], place)
	}
}

// values are the labels of which a requirement wants one; none where it can hold without.
func values(r labels.Requirement) (wanted []label) {
	switch r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		for _, v := range r.ValuesUnsorted() {
			wanted = append(wanted, label{key: r.Key(), value: v})
		}
	case selection.Exists, selection.GreaterThan, selection.LessThan:
		wanted = []label{{key: r.Key(), any: true}}
	}
	return wanted
}

// Candidates returns the places of the selectors that may match the labels, in ascending
// order.
func (x *SelectorIndex) Candidates(set map[string]string) []int {
	out := slices.Clone(x.rest)
	for k, v := range set {
		out = append(append(out, x.asking[label{key: k, value: v}]...), x.asking[label{key: k, any: true}]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// LabelIndex holds label sets by their places in a list, and finds in the same way those that a
// selector may match. It is safe for concurrent readers.
type LabelIndex struct {
	with map[label][]int
	n    int
}

// NewLabelIndex files the n label sets that at returns.
func NewLabelIndex(n int, at func(place int) map[string]string) *LabelIndex {
	x := &LabelIndex{with: map[label][]int{}, n: n}
	for place := range n {
		for k, v := range at(place) {
			for _, l := range []label{{key: k, value: v}, {key: k, any: true}} {
				x.with[l] = append(x.with[l], place)
			}
		}
	}
	return x
}

// Candidates returns the places of the label sets that the selector may match, in
// ascending order: those with a value of the requirement that the fewest fulfil.
func (x *LabelIndex) Candidates(s labels.Selector) []int {
	all, selectable := s.Requirements()
	if !selectable {
		return nil
	}
	best, least := []label(nil), x.n
	for _, r := range all {
		wanted := values(r)
		n := 0
		for _, l := range wanted {
			n += len(x.with[l])
		}
		if len(wanted) > 0 && (best == nil || n < least) {
			best, least = wanted, n
		}
	}
	var out []int
	if best == nil {
		for place := range x.n {
			out = append(out, place)
		}
		return out
	}
	for _, l := range best {
		out = append(out, x.with[l]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
