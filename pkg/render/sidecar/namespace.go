package sidecar

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	model "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// namespace is what injection must know of one.
type namespace struct {
	name   string
	labels map[string]string
	known  bool
	// limits and requests are the defaults of its LimitRanges, limited whether
	// it has any.
	limits, requests map[string]resource.Quantity
	limited          bool
}

func (n *namespace) outside() bool {
	_, ok := n.labels[kruise.OutsideLabel]
	return ok
}

// namespaces looks each namespace up once.
type namespaces struct {
	facts  *model.Facts
	ranges map[string][]*model.Resource
	mu     sync.Mutex
	seen   map[string]*namespace
}

func newNamespaces(c *stage.Context) *namespaces {
	n := &namespaces{facts: c.Facts, ranges: map[string][]*model.Resource{}, seen: map[string]*namespace{}}
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
	ns.limits, ns.requests = map[string]resource.Quantity{}, map[string]resource.Quantity{}
	for _, r := range n.ranges[name] {
		ns.limited = true
		for _, item := range tree.Items(tree.Get(r.Node(), "spec", "limits")) {
			ns.addDefaults(item)
		}
	}
	n.seen[name] = ns
	return ns
}

// addDefaults reads one item of a LimitRange with the defaults that the API
// server gives the item itself: max serves as default, default and then min as
// defaultRequest. The first item that says something counts.
func (ns *namespace) addDefaults(item *tree.Node) {
	if tree.StrAt(item, "type") != "Container" {
		return
	}
	for _, name := range []string{"cpu", "memory"} {
		first(ns.limits, name, item, "default", "max")
		first(ns.requests, name, item, "defaultRequest", "default", "max", "min")
	}
}

func first(into map[string]resource.Quantity, name string, item *tree.Node, fields ...string) {
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
