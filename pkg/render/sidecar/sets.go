package sidecar

import (
	"maps"
	"slices"
	"sync"

	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = kruise.KindSidecarSet

// isSet reports whether r is a SidecarSet.
func isSet(r *resource.Resource) bool { return r.Is(kruise.Group, kind) }

// collect compiles the SidecarSets of the input and of the context; the
// input's take the place of those that exist; those that policies inject are among
// them, since they decide with the others what goes where. The result is in the
// order of injection.
func collect(c *stage.Context, in []*resource.Resource) (sets []*inject.Set, from map[string]*resource.Resource, err error) {
	from = map[string]*resource.Resource{}
	var all []*resource.Resource
	for _, r := range in {
		if isSet(r) {
			from[r.Name()] = r
			all = append(all, r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Admitted)) {
		from[name] = c.Admitted[name]
		all = append(all, from[name])
	}
	for _, r := range c.Facts.Context(kruise.Group, kind) {
		if from[r.Name()] == nil {
			from[r.Name()] = r
			all = append(all, r)
		}
	}
	revisions := storedRevisions(c)
	var errs resource.Errors
	for _, r := range all {
		s, err := compile(r, revisions)
		errs.Add(err)
		if err == nil {
			sets = append(sets, s)
		}
	}
	inject.Order(sets)
	return sets, from, errs.Err()
}

func compile(r *resource.Resource, revisions []*inject.Revision) (*inject.Set, error) {
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return nil, r.Wrap(err, "")
	}
	s, err := inject.Compile(hub, revisions)
	return s, r.Wrap(err, "")
}

func storedRevisions(c *stage.Context) []*inject.Revision {
	var out []*inject.Revision
	for _, r := range c.Facts.All("apps", "ControllerRevision") {
		if rev := inject.ReadRevision(r.Node()); rev != nil {
			out = append(out, rev)
		}
	}
	return out
}

// Matches reports which SidecarSets of the facts would go into which pod template in the
// list, without putting them in. Sets and templates that cannot be read are left out.
func Matches(c *stage.Context, list []*resource.Resource) []stage.Explanation {
	sets, _, _ := collect(c, c.Facts.Stream(kruise.Group, kind))
	s := &injector{Context: c, sets: sets, index: inject.NewIndex(sets), namespaces: newNamespaces(c)}
	found := &stage.Explain{}
	for _, r := range list {
		templates, _ := s.Templates(r)
		for _, t := range templates {
			s.match(found, r, t)
		}
	}
	return found.List()
}

func (s *injector) match(found *stage.Explain, r *resource.Resource, t stage.Template) {
	ns := s.namespaces.get(s.Facts.NamespaceOf(r))
	if ns.outside() {
		return
	}
	choices, err := s.index.Choose(target(r, t, ns))
	if err != nil {
		return
	}
	for _, c := range choices {
		if c.Outcome == inject.Injected {
			found.Add(r, stage.Explanation{Path: t.Path, SidecarSet: c.Set.Name, Injected: true, Reason: c.Why()})
		}
	}
}

// choose decides which sets go into a template. Where it is to be explained why, those that
// do not are among the choices.
func (s *injector) choose(r *resource.Resource, t stage.Template, ns *namespace) ([]inject.Choice, error) {
	if s.Explain == nil {
		return s.index.Choose(target(r, t, ns))
	}
	return inject.Choose(s.sets, target(r, t, ns))
}

// target is what matching must know of a template.
func target(r *resource.Resource, t stage.Template, ns *namespace) *inject.Target {
	return &inject.Target{
		Labels:          tree.Strings(tree.Get(t.Node, "metadata", "labels")),
		NamespaceLabels: ns.labels, NamespaceKnown: ns.known,
		Key: r.ID().String() + "/" + t.Path,
	}
}

// namespace is what injection must know of one.
type namespace struct {
	name   string
	labels map[string]string
	known  bool
	// limits and requests are the defaults of its LimitRanges, limited whether
	// it has any.
	limits, requests map[string]apiresource.Quantity
	limited          bool
}

func (n *namespace) outside() bool {
	_, ok := n.labels[kruise.OutsideLabel]
	return ok
}

// namespaces looks each namespace up once.
type namespaces struct {
	facts  *resource.Facts
	ranges map[string][]*resource.Resource
	mu     sync.Mutex
	seen   map[string]*namespace
}

func newNamespaces(c *stage.Context) *namespaces {
	n := &namespaces{facts: c.Facts, ranges: map[string][]*resource.Resource{}, seen: map[string]*namespace{}}
	for _, r := range c.Facts.All("", "LimitRange") {
		ns := c.Facts.NamespaceOf(r)
		n.ranges[ns] = append(n.ranges[ns], r)
	}
	return n
}

func (n *namespaces) get(name string) *namespace {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ns := n.seen[name]; ns != nil {
		return ns
	}
	ns := &namespace{name: name}
	ns.labels, ns.known = n.facts.NamespaceLabels(name)
	ns.limits, ns.requests = map[string]apiresource.Quantity{}, map[string]apiresource.Quantity{}
	for _, r := range n.ranges[name] {
		ns.limited = true
		for _, item := range tree.Items(tree.Get(r.Node(), "spec", "limits")) {
			ns.addDefaults(item)
		}
	}
	n.seen[name] = ns
	return ns
}

// addDefaults reads one item of a LimitRange with the defaults that the API server gives the item
// itself: max serves as default, default and then min as defaultRequest. The first item with a
// value counts.
func (ns *namespace) addDefaults(item *tree.Node) {
	if tree.StrAt(item, "type") != "Container" {
		return
	}
	for _, name := range []string{"cpu", "memory"} {
		first(ns.limits, name, item, "default", "max")
		first(ns.requests, name, item, "defaultRequest", "default", "max", "min")
	}
}

func first(into map[string]apiresource.Quantity, name string, item *tree.Node, fields ...string) {
	if _, ok := into[name]; ok {
		return
	}
	for _, field := range fields {
		if n := tree.Get(item, field, name); n != nil {
			if q, err := tree.Quantity(tree.Str(n)); err == nil {
				into[name] = q
			}
			return
		}
	}
}
