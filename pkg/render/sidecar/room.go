package sidecar

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// fits refuses a SidecarSet that is too large for the pod templates that it goes into,
// before any of them gets it. It names the first of these sets in the order of injection.
func (s *injector) fits(in []*resource.Resource, from map[string]*resource.Resource) error {
	if s.small(len(in)) {
		return nil
	}
	matches := map[string]int{}
	for _, r := range in {
		if err := s.Stopped(); err != nil {
			return err
		}
		for _, c := range s.injected(r) {
			matches[c.Set]++
		}
	}
	for _, set := range s.sets {
		r := from[set.Name]
		if r == nil {
			continue
		}
		if err := s.Fits(r, "spec", set.Weight(), matches[set.Name], "pod templates that get containers and volumes"); err != nil {
			return err
		}
	}
	return nil
}

// small reports whether all sets together fit even if every object had every one of
// them, in as many templates as a kind has: then there is nothing to count.
func (s *injector) small(objects int) bool {
	const templates = 4
	var all tree.Weight
	for _, set := range s.sets {
		all = all.Add(set.Weight())
	}
	most := s.Limits.OrDefault()
	all = all.Times(objects * templates)
	return all.Nodes <= int64(most.OutputNodes) && all.Bytes <= int64(most.OutputBytes)
}

// injected are the contents that go into the templates of r.
func (s *injector) injected(r *resource.Resource) (out []*inject.Content) {
	templates, _ := s.Templates(r)
	for _, t := range templates {
		ns := s.namespaces.get(s.Facts.NamespaceOf(r))
		if ns.outside() {
			continue
		}
		if choices, err := s.choose(r, t, ns); err == nil {
			here, _ := s.apart(choices)
			out = append(out, inject.Contents(here)...)
		}
	}
	return out
}

// weight is how much the contents put into a template: their own, and the volume mounts
// and devices of the pod's containers for each sidecar that shares them.
func weight(contents []*inject.Content, t stage.Template) tree.Weight {
	var w tree.Weight
	shares := 0
	for _, c := range contents {
		w = w.Add(c.Weight())
		shares += c.Shares()
	}
	if shares == 0 {
		return w
	}
	var mounts tree.Weight
	for _, c := range tree.Items(tree.Get(t.Node, "spec", "containers")) {
		mounts = mounts.Add(tree.Weigh(tree.Get(c, "volumeMounts"))).Add(tree.Weigh(tree.Get(c, "volumeDevices")))
	}
	return w.Add(mounts.Times(shares))
}
