package sidecar

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
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

// Excess is a request above its limit that the resourcesPolicy of a SidecarSet computes
// for the pods of Owner.
type Excess struct {
	inject.Excess
	Owner *resource.Resource
}

// String reports it in a line, without the set.
func (e Excess) String() string {
	return fmt.Sprintf("container %s in pods of %s would request %s of %s with a limit of %s: the API server refuses such pods",
		e.Container, e.Owner.ID(), e.Request, e.Resource, e.Limit)
}

// Excesses computes the resources of sidecars for the pod templates of all objects,
// which stay as they are. Sets of the context count too. What cannot be injected at all
// is passed over: the faults of objects are reported elsewhere.
func Excesses(c *stage.Context, objects []*resource.Resource) []Excess {
	trial := *c
	trial.Findings, trial.Explain = &finding.Reporter{}, nil
	sets, from, _ := collect(&trial, objects)
	if !computes(sets) {
		return nil
	}
	s := &injector{Context: &trial, sets: sets, index: inject.NewIndex(sets), namespaces: newNamespaces(&trial), notes: newNotes(&trial, from), containers: stage.NewBudget(c.Limits.OrDefault().Containers), room: c.Room()}
	var out []Excess
	for _, r := range objects {
		templates, _ := s.Templates(r)
		for _, t := range templates {
			_, res, err := s.inject(r, t)
			if err != nil || res == nil {
				continue
			}
			for _, e := range res.Excesses {
				out = append(out, Excess{Excess: e, Owner: r})
			}
		}
	}
	return out
}

// computes reports whether any set computes resources.
func computes(sets []*inject.Set) bool {
	for _, s := range sets {
		if s.HasResourcesPolicy() {
			return true
		}
	}
	return false
}
