package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// object is one Kruise workload on its way to a native one: what its kinds have
// in common.
type object struct {
	c *stage.Context
	r *resource.Resource
	// hub is the object in the newest version; its parts may be shared with r
	// and with other objects, so every level is copied before it is changed.
	hub *tree.Node
	// host is the object that holds this one as a template, at a path; nil for
	// an object of its own.
	host *object
	path string
	// rules is what the IDs of the kind's findings begin with.
	rules string
	// alwaysPull is whether Kruise's webhook writes imagePullPolicy Always.
	alwaysPull bool
}

// read decodes r into its kind's type and returns what the stage works on.
func read(c *stage.Context, r *resource.Resource, rules string, into any) (object, error) {
	if _, err := kruise.Decode(r.Node(), into); err != nil {
		return object{}, r.Wrap(err, "")
	}
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return object{}, r.Wrap(err, "")
	}
	if r.Name() == "" {
		return object{}, r.Fault("metadata.name", "what is rendered is found again by this name; generateName cannot do that", "a %s to render needs a name", r.Kind())
	}
	return object{c: c, r: r, hub: hub, rules: rules}, nil
}

// native returns the native object of a kind with a spec made by another
// function. Keys that the user wrote keep their order and comments.
func (o *object) native(apiVersion, kind string, spec func(*tree.Node) *tree.Node) *tree.Node {
	return stage.As(o.hub, apiVersion, kind, o.metadata, spec)
}

// id is the ID of one of the kind's rules.
func (o *object) id(rule string) string { return o.rules + "/" + rule }

// report adds a finding about a field, given by its path in the newest version.
func (o *object) report(id, field, detail string) {
	if o.host != nil {
		o.host.report(id, o.path+"."+field, detail)
		return
	}
	o.c.Findings.Add(id, o.r, kruise.Written(o.r.Node(), field), detail)
}

// commentOnce leaves the comment above the source object to the first of those that
// it becomes.
func commentOnce(pieces []*resource.Resource) []*resource.Resource {
	for _, r := range pieces[min(1, len(pieces)):] {
		n := r.Edit()
		n.HeadComment = ""
		if len(n.Content) > 0 {
			key := *n.Content[0]
			key.HeadComment = ""
			n.Content[0] = &key
		}
	}
	return pieces
}
