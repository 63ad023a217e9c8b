package fanout

import (
	"cmp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// plan says what becomes of every ResourceDistribution.
type plan struct {
	c        *stage.Context
	known    namespaces
	existing existing
	// copies holds the distributions by the object they came from.
	copies map[*resource.Resource]*distribution
	// claims holds which distribution has taken a place.
	claims map[resource.ID]*distribution
	// replaced are objects of the input that this run's copies replace.
	replaced map[*resource.Resource]bool
}

// newPlan plans all ResourceDistributions of in, by name: of two that want one
// place, the first by name gets it unless the other one's copy is there.
func newPlan(c *stage.Context, in []*resource.Resource) (*plan, error) {
	p := &plan{
		c:        c,
		copies:   map[*resource.Resource]*distribution{},
		claims:   map[resource.ID]*distribution{},
		replaced: map[*resource.Resource]bool{},
	}
	var all []*distribution
	var errs resource.Errors
	for _, r := range in {
		if !r.Is(kruise.Group, kind) {
			continue
		}
		d, err := newDistribution(r)
		errs.Add(err)
		all = append(all, d)
	}
	if len(errs) > 0 || len(all) == 0 {
		return p, errs.Err()
	}
	p.known, p.existing = knownNamespaces(c.Facts), existingObjects(c, in, all)
	slices.SortStableFunc(all, func(a, b *distribution) int { return cmp.Compare(a.r.Name(), b.r.Name()) })
	for _, d := range all {
		errs.Add(p.add(d))
		p.copies[d.r] = d
	}
	errs.Add(bounded(all, c.Limits.OrDefault()))
	return p, errs.Err()
}

// bounded refuses output beyond the limits, which keep a mistake (a large Secret for
// all namespaces of a large fleet) from filling the memory. The object that is blamed
// is the one with which they are exceeded.
func bounded(all []*distribution, most stage.Limits) error {
	copies, size, nodes := 0, 0, 0
	for _, d := range all {
		copies += len(d.namespaces)
		size += len(d.namespaces) * d.size
		nodes += len(d.namespaces) * int(tree.Weigh(d.body).Nodes)
		if copies > most.Copies || size > most.CopyBytes {
			return d.r.Fault("spec.targets", "narrow the targets, render the distributions apart, or raise the limits with --limit copies=N,copy-bytes=N",
				"all copies together are %d with %d MiB, more than %d copies or %d MiB", copies, size>>20, most.Copies, most.CopyBytes>>20)
		}
		if nodes > most.OutputNodes {
			return d.r.Fault("spec.targets", "narrow the targets, render the distributions apart, or raise the limit with --limit output-nodes=N",
				"all copies together are %d with %d values and keys, more than the %d that the output may hold", copies, nodes, most.OutputNodes)
		}
	}
	return nil
}

// add settles the namespaces of d: its targets without those where an object
// of others is in the way.
func (p *plan) add(d *distribution) error {
	targets, err := p.targets(d)
	if err != nil {
		return err
	}
	p.existing.stale(p, d, targets)
	for _, ns := range targets {
		if p.free(d, ns) {
			d.namespaces = append(d.namespaces, ns)
		}
	}
	p.report(d, len(targets))
	return nil
}

// report adds the findings that every expansion has.
func (p *plan) report(d *distribution, targets int) {
	add := func(rule, field string) { p.c.Findings.Add("resourcedistribution/"+rule, d.r, field, "") }
	add("resource", "spec.resource")
	add("controller", "")
	if targets == 0 {
		add("nowhere", "spec.targets")
	}
	if d.stringData {
		add("string-data", "spec.resource")
	}
	t := d.targets
	switch {
	case t.AllNamespaces:
		add("all-namespaces", "spec.targets.allNamespaces")
	case d.selector != nil:
		add("selector", d.selectorField())
	}
	if len(t.IncludedNamespaces.List) > 0 {
		add("included", "spec.targets.includedNamespaces")
	}
	if len(t.ExcludedNamespaces.List) > 0 {
		add("excluded", "spec.targets.excludedNamespaces")
	}
}
