package sidecar

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
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
