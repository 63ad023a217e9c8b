// Package lower is the stage in which workloads of Kruise become native ones:
// the objects that Kubernetes' own controllers, or this tool as the client
// driver, can run without Kruise. It changes the tree that the user wrote, so
// that templates, comments and unknown fields stay; types are for deciding.
package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// lowerings are the kinds that this stage replaces; no two groups of Kruise share
// a kind.
var lowerings = map[string]func(*stage.Context, *relatedObjects, *resource.Resource) ([]*resource.Resource, error){
	kruise.KindAdvancedCronJob:      lowerAdvancedCronJob,
	kruise.KindBroadcastJob:         lowerBroadcastJob,
	kruise.KindCloneSet:             lowerCloneSet,
	kruise.KindDaemonSet:            lowerDaemonSet,
	kruise.KindImageListPullJob:     lowerImageListPullJob,
	kruise.KindImagePullJob:         lowerImagePullJob,
	kruise.KindPodProbeMarker:       dropProbeMarker,
	kruise.KindPodUnavailableBudget: lowerBudget,
	kruise.KindStatefulSet:          lowerStatefulSet,
}

// Run replaces every workload of Kruise whose kind is expanded by its native form, and
// reports the Kruise objects that stay although native ones were requested.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return RunChosen(c, in, func(r *resource.Resource) bool { return c.Expand(r.Kind()) })
}

// RunChosen is Run for those of the objects that are chosen.
func RunChosen(c *stage.Context, in []*resource.Resource, chosen func(*resource.Resource) bool) ([]*resource.Resource, error) {
	related, err := gatherRelated(c, in)
	if err != nil {
		return nil, err
	}
	out, err := c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if f, ok := lowerings[r.Kind()]; ok && isKruise(r) && chosen(r) {
			out, err := f(c, related, r)
			if c.Leave(r, err) {
				return nil, nil
			}
			return out, err
		}
		reportKept(c, r)
		return []*resource.Resource{r}, nil
	})
	if err != nil {
		return nil, err
	}
	return out, checkCollisions(c, in, out)
}

// checkCollisions finds generated objects whose name another object of the output has.
func checkCollisions(c *stage.Context, in, out []*resource.Resource) error {
	came := make(map[*resource.Resource]bool, len(in))
	for _, r := range in {
		came[r] = true
	}
	count := make(map[resource.ID]int, len(out))
	for _, r := range out {
		count[c.Facts.IDOf(r)]++
	}
	var faults resource.Errors
	for _, r := range out {
		if !came[r] && count[c.Facts.IDOf(r)] > 1 {
			faults.Add(r.Fault("metadata.name", "rename one of the two, or take the other out of the input",
				"a Kruise workload would become a second %s of this name", r.Kind()))
		}
	}
	return faults.Err()
}

// object is one Kruise workload that becomes a native one: what all kinds have in common.
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

// newObject decodes r into its kind's type and returns what the stage works on.
func newObject(c *stage.Context, r *resource.Resource, rules string, into any) (object, error) {
	if _, err := kruise.Decode(r.Node(), into); err != nil {
		return object{}, r.Wrap(err, "")
	}
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return object{}, r.Wrap(err, "")
	}
	if r.Name() == "" {
		return object{}, r.Fault("metadata.name", "the rendered objects are found by this name, so generateName cannot be used", "a %s to render needs a name", r.Kind())
	}
	return object{c: c, r: r, hub: hub, rules: rules}, nil
}

// native returns the native object of a kind with a spec made by another
// function. Keys that the user wrote keep their order and comments.
func (o *object) native(apiVersion, kind string, spec func(*tree.Node) *tree.Node) *tree.Node {
	return stage.Retype(o.hub, apiVersion, kind, o.metadata, spec)
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
		dropComment(r.Edit())
	}
	return pieces
}

// dropComment removes the comment above a document.
func dropComment(n *tree.Node) {
	n.HeadComment = ""
	if len(n.Content) > 0 {
		first := *n.Content[0]
		first.HeadComment, n.Content[0] = "", &first
	}
}

// keptKinds are the kinds that stay as they are, each with the rule that is reported and
// the field that it is about.
var keptKinds = map[string]struct{ rule, field string }{
	kruise.KindNodeImage:    {"nodeimage/kept", "spec.images"},
	kruise.KindNodePodProbe: {"nodepodprobe/kept", "spec.podProbes"},
}

// reportKept reports an object of Kruise that stays unchanged because no stage expands
// its kind, although its expansion was requested.
func reportKept(c *stage.Context, r *resource.Resource) {
	group := r.Group()
	kind, _ := kruise.Lookup(group, r.Kind())
	replaced := kind.Expansion != kruise.ExpansionNone && kind.Expansion != kruise.ExpansionSteps
	if !isKruise(r) || replaced || !c.Expand(r.Kind()) {
		return
	}
	if k, ok := keptKinds[r.Kind()]; ok {
		c.Findings.Add(k.rule, r, k.field, "")
		return
	}
	c.Findings.Add("kruise/not-expanded", r, "kind", r.Kind()+" of "+group+" stays a Kruise object: it needs Kruise in the cluster")
}

// isKruise reports whether an object is of one of Kruise's groups.
func isKruise(r *resource.Resource) bool {
	return r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup
}
