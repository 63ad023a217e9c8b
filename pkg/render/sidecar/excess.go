package sidecar

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Excess is a request above its limit that the resourcesPolicy of a SidecarSet computes
// for the pods of Owner.
type Excess struct {
	inject.Excess
	Owner *resource.Resource
}

// String says it in a line, without the set.
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
