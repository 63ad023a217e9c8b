package inject

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Target is what matching must know of a pod or pod template.
type Target struct {
	// Labels are the pod's.
	Labels map[string]string
	// NamespaceLabels are those of the Namespace object with
	// kubernetes.io/metadata.name, NamespaceKnown whether there is such an
	// object. Labels of an unknown one hold the name only.
	NamespaceLabels map[string]string
	NamespaceKnown  bool
	// Key identifies the pod or template. It replaces chance where Kruise
	// throws dice.
	Key string
}

// Outcome is whether a set goes into a pod, and what decided it.
type Outcome int

// The outcomes, in the order in which Kruise decides.
const (
	Injected Outcome = iota
	// Paused: injectionStrategy.paused.
	Paused
	// OtherNamespace: namespaceSelector does not match.
	OtherNamespace
	// UnknownNamespace: namespaceSelector asks for labels of a Namespace object
	// that is not known. It counts as no match.
	UnknownNamespace
	// OtherPods: selector does not match.
	OtherPods
	// Superseded: a canary of the set matches.
	Superseded
)

// Choice is the outcome for one set.
type Choice struct {
	Set     *Set
	Outcome Outcome
	// Content is what to inject; nil unless Outcome is Injected.
	Content *Content
	// Diced is set where Kruise would have chosen between two revisions at
	// random.
	Diced bool
	// By is the canary that supersedes the set.
	By string
}

// Order sorts sets as they are injected: those that name their namespaces
// first, each group by name. Kruise leaves the order inside a group to chance.
func Order(sets []*Set) {
	slices.SortStableFunc(sets, func(a, b *Set) int {
		if a.pinned != b.pinned {
			if a.pinned {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
}

// Choose decides for every set, in the order given (docs/kruise/sidecarset.md#which-pods-match).
// The error is one that makes Kruise refuse the pod: a revision that is named
// but not stored.
func Choose(sets []*Set, t *Target) ([]Choice, error) {
	choices := make([]Choice, len(sets))
	superseded := map[string]string{}
	for i, s := range sets {
		choices[i] = Choice{Set: s, Outcome: s.outcome(t)}
		if choices[i].Outcome != Injected {
			continue
		}
		if err := s.choose(t, &choices[i]); err != nil {
			return nil, err
		}
		if s.base != "" {
			superseded[s.base] = s.Name
		}
	}
	for i := range choices {
		c := &choices[i]
		if by, ok := superseded[c.Set.Name]; ok && c.Outcome == Injected {
			*c = Choice{Set: c.Set, Outcome: Superseded, By: by}
		}
	}
	return choices, nil
}

// Index finds the sets that may go into a pod among many. It is safe for concurrent use.
type Index struct {
	sets  []*Set
	index *kruise.SelectorIndex
}

// NewIndex files the sets, which are in the order of injection.
func NewIndex(sets []*Set) *Index {
	list := make([]labels.Selector, len(sets))
	for i, s := range sets {
		list[i] = s.selector
	}
	return &Index{sets, kruise.NewSelectorIndex(list)}
}

// Choose decides as the function [Choose] does, for the sets whose selector may match alone:
// of all others nothing is injected, and nothing is in doubt.
func (x *Index) Choose(t *Target) ([]Choice, error) {
	places := x.index.Candidates(t.Labels)
	near := make([]*Set, len(places))
	for i, place := range places {
		near[i] = x.sets[place]
	}
	return Choose(near, t)
}

// Contents returns what the choices inject, in order.
func Contents(choices []Choice) []*Content {
	var out []*Content
	for _, c := range choices {
		if c.Content != nil {
			out = append(out, c.Content)
		}
	}
	return out
}

func (s *Set) outcome(t *Target) Outcome {
	if s.paused {
		return Paused
	}
	here, undecided := s.namespaces.match(t)
	switch {
	case !here && !undecided:
		return OtherNamespace
	case !s.selector.Matches(labels.Set(t.Labels)):
		return OtherPods
	case undecided:
		return UnknownNamespace
	}
	return Injected
}

// choose picks the revision.
func (s *Set) choose(t *Target, c *Choice) error {
	if s.missing != nil {
		return s.missing
	}
	c.Content = s.current
	if s.chosen == nil {
		return nil
	}
	st := &s.strategy
	switch {
	case st.paused, !st.partial, st.selector != nil && !st.selector.Matches(labels.Set(t.Labels)):
		c.Content = s.chosen
	case st.bad != nil:
		return st.bad
	case st.percent >= 0:
		c.Diced = true
		h := fnv.New32a()
		_, _ = h.Write([]byte(s.Name + "\x00" + t.Key))
		if int(h.Sum32()%100) < st.percent {
			c.Content = s.chosen
		}
	}
	return nil
}

// Why reports in one line what decided.
func (c Choice) Why() string {
	switch c.Outcome {
	case Paused:
		return "injectionStrategy.paused is set"
	case OtherNamespace:
		return "its namespaceSelector " + c.Set.namespaces.all.String() + " does not match the namespace"
	case UnknownNamespace:
		return "its namespaceSelector " + c.Set.namespaces.all.String() + " needs the labels of the namespace, which are not known"
	case OtherPods:
		if c.Set.selector.String() == labels.Nothing().String() {
			return "its selector is empty, which matches nothing"
		}
		return "its selector " + c.Set.selector.String() + " does not match the labels"
	case Superseded:
		return "its canary " + c.By + " matches too and takes its place"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "selector %s matches", c.Set.selector)
	if c.Set.namespaces == nil {
		b.WriteString(", in every namespace")
	} else {
		fmt.Fprintf(&b, ", namespaceSelector %s too", c.Set.namespaces.all)
	}
	if c.Content != nil && c.Content.Revision != "" {
		b.WriteString("; revision " + c.Content.Revision)
	}
	if c.Diced {
		b.WriteString(" (chosen by the template's name, whereas Kruise chooses at random)")
	}
	return b.String()
}
