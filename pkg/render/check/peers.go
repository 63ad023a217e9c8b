package check

import (
	"iter"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// peers are the objects of one kind, in the order in which they are created: those of the
// input, then those of the context that the input does not replace.
type peers struct {
	all []peer
	// stream is the number of them that are from the input; at has their indices.
	stream int
	at     map[*resource.Resource]int
}

type peer struct {
	r  *resource.Resource
	id resource.ID
}

type peersOf struct{ group, kind string }

// findPeers returns the objects of a kind; they are collected once for all objects.
func findPeers(f *resource.Facts, group, kind string) *peers {
	return resource.Once(f, peersOf{group, kind}, func() *peers {
		p := &peers{at: map[*resource.Resource]int{}}
		input := map[resource.ID]bool{}
		for _, r := range f.Stream(group, kind) {
			if _, twice := p.at[r]; !twice {
				p.at[r] = len(p.all)
			}
			input[f.IDOf(r)] = true
			p.add(r, f.IDOf(r))
		}
		p.stream = len(p.all)
		for _, r := range f.Context(group, kind) {
			if id := f.IDOf(r); !input[id] {
				p.add(r, id)
			}
		}
		return p
	})
}

func (p *peers) add(r *resource.Resource, id resource.ID) {
	p.all = append(p.all, peer{r, id})
}

// existsBefore reports whether the object at an index exists when r, which has this id, is
// created: objects of the input exist if they come before r.
func (p *peers) existsBefore(place int, r *resource.Resource, id resource.ID) bool {
	own, ours := p.at[r]
	return p.all[place].id != id && (place >= p.stream || !ours || place < own)
}

// selectors is an index of the selectors of all objects of a kind, which finds those that
// may select the same pods without comparing all.
type selectors struct {
	*peers

	// wants are the requirements of each, by index; nil for one without a selector.
	wants []wants
	// groups have those of one namespace that name the same keys.
	groups map[string]*selectorGroup
}

type wants = map[string][]metav1.LabelSelectorRequirement

// selectorGroup has the indices of selectors with the same keys.
type selectorGroup struct {
	all []int
	// keys are those that all of them name.
	keys []string
	// with are those that want a key to have a value; open are those with other requirements
	// for the key.
	with map[[2]string][]int
	open map[string][]int
}

type selectorsOf peersOf

// indexSelectors returns the selectors of a kind; they are indexed once for all objects.
func indexSelectors(f *resource.Facts, group, kind string) *selectors {
	return resource.Once(f, selectorsOf{group, kind}, func() *selectors {
		x := &selectors{peers: findPeers(f, group, kind), groups: map[string]*selectorGroup{}}
		x.wants = make([]wants, len(x.all))
		for place, p := range x.all {
			n := tree.Get(p.r.Node(), "spec", "selector")
			if selector, err := labelSelector(n); n != nil && err == nil {
				x.wants[place] = requirements(selector)
				x.add(place, p.id.Namespace)
			}
		}
		return x
	})
}

func groupKey(namespace string, w wants) string {
	return namespace + "\n" + strings.Join(slices.Sorted(maps.Keys(w)), "\n")
}

func (x *selectors) add(place int, namespace string) {
	w := x.wants[place]
	a := x.groups[groupKey(namespace, w)]
	if a == nil {
		a = newSelectorGroup(w)
		x.groups[groupKey(namespace, w)] = a
	}
	a.add(place, w)
}

func newSelectorGroup(w wants) *selectorGroup {
	return &selectorGroup{keys: slices.Collect(maps.Keys(w)), with: map[[2]string][]int{}, open: map[string][]int{}}
}

func (a *selectorGroup) add(place int, w wants) {
	a.all = append(a.all, place)
	for key, list := range w {
		values := wantedValues(list)
		if values == nil {
			a.open[key] = append(a.open[key], place)
		}
		for _, v := range values {
			a.with[[2]string{key, v}] = append(a.with[[2]string{key, v}], place)
		}
	}
}

// wantedValues are the values of the first requirement that names some; nil for none.
func wantedValues(list []metav1.LabelSelectorRequirement) []string {
	for _, r := range list {
		if r.Operator == metav1.LabelSelectorOpIn {
			return slices.Compact(slices.Sorted(slices.Values(r.Values)))
		}
	}
	return nil
}

// candidates are the indices of selectors that name the same keys, without some of those
// that want other values, in ascending order.
func (x *selectors) candidates(namespace string, mine wants) iter.Seq[int] {
	if a := x.groups[groupKey(namespace, mine)]; a != nil {
		return a.candidates(mine)
	}
	return merged(nil)
}

// candidates are the indices without those that want other values of the most selective
// key, in ascending order.
func (a *selectorGroup) candidates(mine wants) iter.Seq[int] {
	best, fewest := [][]int{a.all}, len(a.all)
	for _, key := range a.keys {
		values := wantedValues(mine[key])
		if values == nil {
			continue
		}
		n, lists := len(a.open[key]), [][]int{a.open[key]}
		for _, v := range values {
			n, lists = n+len(a.with[[2]string{key, v}]), append(lists, a.with[[2]string{key, v}])
		}
		if n < fewest {
			best, fewest = lists, n
		}
	}
	return merged(best)
}

// merged are the numbers of ascending lists, in ascending order, each once.
func merged(lists [][]int) iter.Seq[int] {
	return func(yield func(int) bool) {
		left := slices.Clone(lists)
		for {
			least := -1
			for _, l := range left {
				if len(l) > 0 && (least < 0 || l[0] < least) {
					least = l[0]
				}
			}
			if least < 0 || !yield(least) {
				return
			}
			for i, l := range left {
				if len(l) > 0 && l[0] == least {
					left[i] = l[1:]
				}
			}
		}
	}
}

// first returns as many indices for which a condition holds as a message needs: thousands of
// objects can be in conflict with each other, and each is told of a few.
func first(places iter.Seq[int], holds func(place int) bool) (out []int) {
	for place := range places {
		if holds(place) {
			if out = append(out, place); len(out) > counted.MostNamed {
				break
			}
		}
	}
	return out
}

// names are those of the objects at the indices, for a message.
func (p *peers) names(places []int) string {
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = p.all[place].r.Name()
	}
	return counted.Some(names)
}

// mayOverlap reports whether some object may match both selectors, as Kruise
// judges it: a key that one selector wants to exist and the other does not
// mention counts as disjoint (docs/kruise/sidecarset.md#observed-on-a-cluster). nil selects
// everything.
func mayOverlap(a, b wants) bool {
	return a == nil || b == nil || compatible(a, b) && compatible(b, a)
}

// requirements returns the requirements of a selector by key.
func requirements(s *metav1.LabelSelector) map[string][]metav1.LabelSelectorRequirement {
	out := map[string][]metav1.LabelSelectorRequirement{}
	for k, v := range s.MatchLabels {
		out[k] = append(out[k], metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{v}})
	}
	for _, r := range s.MatchExpressions {
		out[r.Key] = append(out[r.Key], r)
	}
	return out
}

func compatible(a, b map[string][]metav1.LabelSelectorRequirement) bool {
	for key, list := range a {
		theirs, mentioned := b[key]
		for _, r := range list {
			if !mentioned && r.Operator == metav1.LabelSelectorOpExists {
				return false
			}
			if slices.ContainsFunc(theirs, func(o metav1.LabelSelectorRequirement) bool { return disjoint(r, o) }) {
				return false
			}
		}
	}
	return true
}

// disjoint reports whether no value satisfies both, as far as r decides; callers ask in both
// directions.
func disjoint(r, o metav1.LabelSelectorRequirement) bool {
	switch r.Operator {
	case metav1.LabelSelectorOpIn:
		switch o.Operator {
		case metav1.LabelSelectorOpIn:
			return !slices.ContainsFunc(r.Values, func(v string) bool { return slices.Contains(o.Values, v) })
		case metav1.LabelSelectorOpNotIn:
			return !slices.ContainsFunc(r.Values, func(v string) bool { return !slices.Contains(o.Values, v) })
		case metav1.LabelSelectorOpDoesNotExist:
			return true
		}
	case metav1.LabelSelectorOpExists:
		return o.Operator == metav1.LabelSelectorOpDoesNotExist
	}
	return false
}
