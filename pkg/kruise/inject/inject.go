// Package inject puts SidecarSets into pods, as Kruise's admission webhook
// does when a pod is created (docs/kruise/sidecarset.md#which-pods-match and
// docs/kruise/sidecarset.md#injection). It works on trees, so that everything else in a pod
// template stays as it was written. It is a pure leaf: the renderer uses it on templates, the
// simulator on pods, and it knows neither, no cluster, file or clock.
//
// [Compile] reads a SidecarSet once, [Choose] decides which sets match a pod,
// [Inject] puts their content in. What does not depend on the pod is one node
// that all pods share: it must not be changed afterwards.
package inject

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Options are the surroundings that change what is injected. The zero value
// is a cluster of which nothing is known.
type Options struct {
	// SortContainers is the feature gate EnableSortSidecarContainerByName.
	SortContainers bool
	// PullSecrets are those of the pod's ServiceAccount. Kubernetes gives them
	// to a pod without any before the webhook sees it.
	PullSecrets []*tree.Node
	// Limits and Requests are the defaults for cpu and memory from the
	// namespace's LimitRanges; resourcesPolicy counts them.
	Limits, Requests map[string]resource.Quantity
	// Others are sets that go into the pod elsewhere: resourcesPolicy does not count
	// what they put in.
	Others []*Content
}

// Result is what became of a pod.
type Result struct {
	// Pod is the new tree. It shares what did not change with the old one,
	// which stays as it was; it is the old one when nothing changed.
	Pod *tree.Node
	// Replaced names the pod's own containers that a sidecar of the same name
	// replaced. What an earlier injection left behind is not counted.
	Replaced []string
	// Excesses are what a resourcesPolicy computed and the API server refuses.
	Excesses []Excess
	// Source is set when sidecars copy from the pod's containers and one of
	// those was replaced: a second injection cannot see the original.
	Source bool
}

// Inject puts sets, in this order, into pod: a mapping with metadata and spec.
// Injecting the result again with the same sets changes nothing. The error is
// a reason for which the webhook or the API server would refuse the pod.
func Inject(pod *tree.Node, sets []*Content, opt Options) (*Result, error) {
	if len(sets) == 0 {
		return &Result{Pod: pod}, nil
	}
	in, err := newInjection(pod, sets, opt)
	if err != nil {
		return nil, err
	}
	if err := in.run(); err != nil {
		return nil, err
	}
	out := &Result{Pod: in.pod, Replaced: in.replaced, Excesses: in.excesses}
	out.Source = len(in.replaced) > 0 && slices.ContainsFunc(sets, (*Content).reads)
	if tree.Equal(in.pod, pod) {
		out.Pod = pod
	}
	return out, nil
}

// injection is one run on one pod.
type injection struct {
	sets []*Content
	opt  Options
	// Copies of the levels that change; spec's lists are set at the end.
	pod, metadata, annotations, spec *tree.Node
	// The lists of the pod before injection; carried are the sets that the pod lists as injected,
	// ours the names of their containers.
	inits, containers []*tree.Node
	carried, ours     map[string]bool

	index    map[string]int // of containers, by name
	queue    []*tree.Node   // volumes
	replaced []string
	excesses []Excess
}

// newInjection copies the levels of pod that injection changes.
func newInjection(pod *tree.Node, sets []*Content, opt Options) (*injection, error) {
	if !tree.IsMap(pod) || !tree.IsMap(tree.Get(pod, "spec")) {
		return nil, tree.Errorf(pod, "spec", "", "the pod has no spec")
	}
	for _, path := range [][]string{{"metadata"}, {"metadata", "annotations"}} {
		if n := tree.Get(pod, path...); n != nil && !tree.IsMap(n) {
			return nil, tree.Errorf(pod, path[len(path)-1], "", "want a mapping")
		}
	}
	in := &injection{sets: sets, opt: opt, pod: block(tree.Shallow(pod))}
	in.metadata = ownMapping(in.pod, "metadata")
	in.annotations = ownMapping(in.metadata, "annotations")
	in.spec = ownMapping(in.pod, "spec")
	var err error
	if in.inits, err = list(in.spec, "initContainers"); err != nil {
		return nil, err
	}
	if in.containers, err = list(in.spec, "containers"); err != nil {
		return nil, err
	}
	return in, in.readRecords()
}

// ownMapping returns a copy of the mapping at key that n holds from now on; a
// missing one is made, metadata in front.
func ownMapping(n *tree.Node, key string) *tree.Node {
	if child := tree.Get(n, key); child != nil {
		child = block(tree.Shallow(child))
		tree.Set(n, key, child)
		return child
	}
	child := tree.Map()
	if key == "metadata" && !tree.Has(n, key) {
		n.Content = append([]*tree.Node{tree.String(key), child}, n.Content...)
	} else {
		tree.Set(n, key, child)
	}
	return child
}

// list returns the elements of spec.FIELD, which must be mappings.
func list(spec *tree.Node, field string) ([]*tree.Node, error) {
	n := tree.Get(spec, field)
	if n == nil {
		return nil, nil
	}
	if !tree.IsSeq(n) {
		return nil, inSpec(tree.Errorf(spec, field, "", "want a list"))
	}
	for i, item := range n.Content {
		if !tree.IsMap(item) {
			return nil, inSpec(tree.Errorf(spec, fmt.Sprintf("%s[%d]", field, i), "", "want a mapping"))
		}
	}
	return n.Content, nil
}

// run takes the steps of docs/kruise/sidecarset.md#order-of-steps.
func (in *injection) run() error {
	if err := in.patchMetadata(); err != nil {
		return err
	}
	inits, containers, err := in.buildAll()
	if err != nil {
		return err
	}
	slices.SortStableFunc(inits, byName)
	if in.opt.SortContainers {
		slices.SortStableFunc(containers, byName)
	}
	allInits, allContainers := in.merge(in.inits, inits), in.merge(in.containers, containers)
	if err := in.unique(allInits, allContainers, inits, containers); err != nil {
		return err
	}
	in.write("containers", allContainers)
	in.write("initContainers", allInits)
	// Append the queued volumes; the pod's volume of a name wins (docs/kruise/sidecarset.md#volumes).
	own := tree.Items(tree.Get(in.spec, "volumes"))
	in.write("volumes", withoutRepeats(own, in.queue))
	in.addPullSecrets()
	// Write the list of injected sets and the annotations of hot-upgrade pairs. The hash annotations hold the time and are
	// not written.
	names := splitList(tree.StrAt(in.annotations, kruise.SidecarSetInjectedListAnnotation))
	for _, set := range in.sets {
		names = append(names, set.Set)
	}
	slices.Sort(names)
	in.annotate(kruise.SidecarSetInjectedListAnnotation, strings.Join(slices.Compact(names), ","))
	return in.recordHot()
}

// buildAll builds set after set, init containers first; the pod still holds
// only its own containers.
func (in *injection) buildAll() (inits, containers []part, err error) {
	for _, set := range in.sets {
		for _, group := range []struct {
			from []*sidecar
			to   *[]part
		}{{set.inits, &inits}, {set.containers, &containers}} {
			for _, s := range group.from {
				parts, err := in.build(set, s)
				if err != nil {
					return nil, nil, fmt.Errorf("SidecarSet %s: %w", set.Set, err)
				}
				*group.to = append(*group.to, parts...)
			}
		}
	}
	return inits, containers, nil
}

// merge puts the built containers into the pod's own list: one of a name that
// is there replaces it at its place, the others go to the front or the back
// (docs/kruise/sidecarset.md#merging-containers).
func (in *injection) merge(own []*tree.Node, built []part) []*tree.Node {
	at := indexByName(own)
	middle := slices.Clone(own)
	var front, back []*tree.Node
	for _, p := range built {
		i, taken := at[p.name]
		switch {
		case taken:
			middle[i] = p.node
			if !in.carried[p.set.Set] && !marked(own[i]) {
				in.replaced = append(in.replaced, p.name)
			}
		case p.front:
			front = append(front, p.node)
		default:
			back = append(back, p.node)
		}
	}
	return slices.Concat(front, middle, back)
}

func byName(a, b part) int { return strings.Compare(a.name, b.name) }

// unique refuses a pod in which a name appears twice across both lists when a
// sidecar has a part in it, as the API server does.
func (in *injection) unique(inits, containers []*tree.Node, built ...[]part) error {
	ours := map[string]*Content{}
	for _, list := range built {
		for _, p := range list {
			ours[p.name] = p.set
		}
	}
	count := make(map[string]int, len(inits)+len(containers))
	for _, list := range [][]*tree.Node{inits, containers} {
		for _, c := range list {
			name := tree.StrAt(c, "name")
			if count[name]++; count[name] > 1 && ours[name] != nil {
				return fmt.Errorf("the pod would have two containers named %q, one of them from SidecarSet %s", name, ours[name].Set)
			}
		}
	}
	return nil
}

// write sets spec.FIELD, unless it is the same list already. New init
// containers come before the containers.
func (in *injection) write(field string, items []*tree.Node) {
	old := tree.Get(in.spec, field)
	if slices.Equal(tree.Items(old), items) {
		return
	}
	if old == nil {
		old = tree.Seq()
	}
	n := block(tree.Shallow(old))
	n.Content = items
	if field == "initContainers" && !tree.Has(in.spec, field) {
		in.spec.Content = slices.Insert(in.spec.Content, in.keyOf("containers"), tree.String(field), n)
		return
	}
	tree.Set(in.spec, field, n)
}

// keyOf is the index of key among the contents of spec; its end when missing.
func (in *injection) keyOf(key string) int {
	for i := 0; i+1 < len(in.spec.Content); i += 2 {
		if in.spec.Content[i].Value == key {
			return i
		}
	}
	return len(in.spec.Content)
}

// addPullSecrets appends the sets' secrets behind the pod's, each name once
// (docs/kruise/sidecarset.md#pull-secrets).
func (in *injection) addPullSecrets() {
	own := tree.Items(tree.Get(in.spec, "imagePullSecrets"))
	var added []*tree.Node
	for _, set := range in.sets {
		added = append(added, set.secrets...)
	}
	if len(own) == 0 && len(added) > 0 {
		own = in.opt.PullSecrets
	}
	in.write("imagePullSecrets", withoutRepeats(withoutRepeats(nil, own), added))
}
