package compare

import (
	"context"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// side is one of the two states.
type side struct {
	list  []*resource.Resource
	byID  map[resource.ID]*resource.Resource
	facts *resource.Facts
	stage *stage.Context
	// carriers are the pod templates of the state and of the context, at where each
	// workload is among them.
	carriers []carrier
	at       map[resource.ID]int
	// labelled finds carriers by their labels.
	labelled *kruise.LabelIndex
}

func newSide(ctx context.Context, list []*resource.Resource, opt Options) *side {
	facts := resource.NewFacts(list, opt.Context, opt.Namespace)
	s := &side{list: list, byID: make(map[resource.ID]*resource.Resource, len(list)), facts: facts, stage: newContext(ctx, facts, opt.Kruise)}
	for _, r := range list {
		s.byID[facts.IDOf(r)] = r
	}
	s.carriers = s.gather(opt.Context)
	s.at = make(map[resource.ID]int, len(s.carriers))
	for i, c := range s.carriers {
		s.at[c.id] = i
	}
	s.labelled = kruise.NewLabelIndex(len(s.carriers), func(i int) map[string]string { return s.carriers[i].labels })
	return s
}

// pair is one object on both sides; one of them may be nil.
type pair struct {
	id       resource.ID
	old, now *resource.Resource
}

// pairObjects pairs objects by their identity, whatever file, order and API version
// they are written in: first those of the new side in its order, then what is
// gone.
func pairObjects(old, now *side) []pair {
	var out []pair
	suffixed := map[resource.ID]*resource.Resource{}
	for _, r := range old.list {
		if id := old.facts.IDOf(r); now.byID[id] == nil {
			if stem, ok := stemOf(id); ok {
				suffixed[stem] = r
			}
		}
	}
	renamed := map[*resource.Resource]bool{}
	for _, r := range now.list {
		id := now.facts.IDOf(r)
		was := old.byID[id]
		if stem, ok := stemOf(id); was == nil && ok && suffixed[stem] != nil && !renamed[suffixed[stem]] {
			was = suffixed[stem]
			renamed[was] = true
		}
		out = append(out, pair{id: id, old: was, now: r})
	}
	for _, r := range old.list {
		if id := old.facts.IDOf(r); now.byID[id] == nil && !renamed[r] {
			out = append(out, pair{id: id, old: r})
		}
	}
	return out
}

// contentSuffix is what kustomize's generators add to a name: ten characters of
// its own alphabet.
var contentSuffix = regexp.MustCompile(`-[2456789bcdfghkmt]{10}$`)

// stemOf is the identity without the suffix that is a hash of the content.
func stemOf(id resource.ID) (stem resource.ID, ok bool) {
	if id.Group != "" || id.Kind != "ConfigMap" && id.Kind != "Secret" {
		return id, false
	}
	at := contentSuffix.FindStringIndex(id.Name)
	if at == nil {
		return id, false
	}
	id.Name = id.Name[:at[0]]
	return id, true
}

// carrier is a workload with the labels of its pods.
type carrier struct {
	r         *resource.Resource
	id        resource.ID
	namespace string
	labels    labels.Set
	// pods is the number of pods in its spec, -1 if unknown.
	pods int
	// template is the pod template itself.
	template *tree.Node
}

// gather finds the pod templates of a side and of what exists beside it. What the
// side holds takes the place of what exists under the same name.
func (s *side) gather(context []*resource.Resource) []carrier {
	var out []carrier
	for _, list := range [][]*resource.Resource{s.list, context} {
		for _, r := range list {
			if len(list) > 0 && s.byID[s.facts.IDOf(r)] != nil && s.byID[s.facts.IDOf(r)] != r {
				continue
			}
			found, _ := s.stage.Templates(r)
			for _, t := range found {
				out = append(out, carrier{
					r: r, id: s.facts.IDOf(r), namespace: s.facts.NamespaceOf(r), pods: wantedReplicas(r), template: t.Node,
					labels: tree.Strings(tree.Get(t.Node, "metadata", "labels")),
				})
			}
		}
	}
	return out
}

func wantedReplicas(r *resource.Resource) int {
	if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
		return int(n)
	}
	if r.Is("", "Pod") {
		return 1
	}
	return -1
}

// selected are the carriers in a namespace whose pods a selector finds.
func (s *side) selected(namespace string, selector labels.Selector) []carrier {
	var out []carrier
	for _, place := range s.labelled.Candidates(selector) {
		if c := s.carriers[place]; c.namespace == namespace && selector.Matches(c.labels) {
			out = append(out, c)
		}
	}
	return out
}

// selectorAt reads a label selector of an object; ok is false without one, and for
// one that cannot be read.
func selectorAt(r *resource.Resource, path ...string) (labels.Selector, bool) {
	n := tree.Get(r.Node(), path...)
	if !tree.IsMap(n) {
		return nil, false
	}
	var s metav1.LabelSelector
	if _, err := tree.Decode(n, &s); err != nil {
		return nil, false
	}
	out, err := metav1.LabelSelectorAsSelector(&s)
	return out, err == nil
}

// total is the sum of the pods of carriers, -1 if one of the numbers is unknown.
func total(list []carrier) int {
	sum := 0
	for _, c := range list {
		if c.pods < 0 {
			return -1
		}
		sum += c.pods
	}
	return sum
}
