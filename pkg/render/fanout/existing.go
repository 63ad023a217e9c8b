package fanout

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// existing are the objects that are, or can be, where copies go: by kind
// and name (the namespace is "" in the key), each with where it came from.
type existing map[resource.ID][]object

type object struct {
	r         *resource.Resource
	namespace string
	// live objects are in the cluster, others in the input.
	live bool
}

func existingObjects(c *stage.Context, in []*resource.Resource, all []*distribution) existing {
	e := existing{}
	for _, d := range all {
		e[d.copied()] = nil
	}
	add := func(r *resource.Resource, live bool) {
		id := r.ID()
		id.Namespace = ""
		if _, wanted := e[id]; wanted {
			e[id] = append(e[id], object{r, c.Facts.NamespaceOf(r), live})
		}
	}
	for _, r := range in {
		if kind := r.Kind(); kind == "ConfigMap" || kind == "Secret" {
			add(r, false)
		}
	}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, r := range c.Facts.Context("", kind) {
			add(r, true)
		}
	}
	for id := range e {
		slices.SortStableFunc(e[id], func(a, b object) int { return strings.Compare(a.namespace, b.namespace) })
	}
	return e
}

// at returns the objects in the namespace where d's copy goes.
func (e existing) at(d *distribution, namespace string) []object {
	all := e[d.copied()]
	from, _ := slices.BinarySearchFunc(all, namespace, func(o object, ns string) int { return strings.Compare(o.namespace, ns) })
	to := from
	for to < len(all) && all[to].namespace == namespace {
		to++
	}
	return all[from:to]
}

// belongsTo reports whether the object is a copy of the ResourceDistribution:
// by its controller reference, which is all that Kruise looks at, or else by
// our label together with Kruise's annotation. Nothing is ever adopted.
func (o object) belongsTo(name string) bool {
	for _, ref := range tree.Items(tree.Get(o.r.Node(), "metadata", "ownerReferences")) {
		if tree.Bool(tree.Get(ref, "controller")) {
			return resource.GroupOf(tree.StrAt(ref, "apiVersion")) == kruise.Group &&
				tree.StrAt(ref, "kind") == kind && tree.StrAt(ref, "name") == name
		}
	}
	return o.r.Annotation(kruise.ResourceDistributedByAnnotation) == name &&
		o.r.Label(kruise.SourceLabel) == kruise.SourceValue(kind, name)
}

func (o object) String() string {
	at := "in the cluster"
	if !o.live {
		at = "in the input (" + o.r.Origin.String() + ")"
	}
	return fmt.Sprintf("%s %s/%s %s", o.r.Kind(), o.namespace, o.r.Name(), at)
}

// free reports whether d may have its copy in the namespace, and claims the place; otherwise it
// returns what prevents it.
func (p *plan) free(d *distribution, namespace string) bool {
	conflict := func(what string) bool {
		p.c.Findings.Add("resourcedistribution/conflict", d.r, "spec.targets", what+": it is left as it is and namespace "+namespace+" gets no copy")
		return false
	}
	place := d.copied()
	place.Namespace = namespace
	if other := p.claims[place]; other != nil {
		return conflict(fmt.Sprintf("%s is distributed by ResourceDistribution %s", place, other.r.Name()))
	}
	present := p.existing.at(d, namespace)
	for _, o := range present {
		if !o.belongsTo(d.r.Name()) {
			return conflict(fmt.Sprintf("%s is not a copy of this ResourceDistribution", o))
		}
	}
	p.claims[place] = d
	for _, o := range present {
		if o.live {
			p.refused(d, o)
		} else {
			p.replaced[o.r] = true
		}
	}
	return true
}

// refused reports a change that the API server will not take.
func (p *plan) refused(d *distribution, o object) {
	live := o.r.Node()
	switch {
	case d.kind == "Secret" && tree.StrAt(live, "type") != "" && tree.StrAt(live, "type") != tree.StrAt(d.body, "type"):
		p.c.Findings.Add("resourcedistribution/secret-type", d.r, "spec.resource.type", o.String()+" has another type: the API server will refuse the change")
	case tree.Bool(tree.Get(live, "immutable")) && !sameContent(live, d.body):
		p.c.Findings.Add("resourcedistribution/immutable", d.r, "spec.resource", o.String()+" is immutable and differs: the API server will refuse the change")
	}
}

// sameContent compares the fields that immutable freezes.
func sameContent(a, b *tree.Node) bool {
	for _, field := range []string{"data", "binaryData", "immutable"} {
		if !tree.Equal(tree.Get(a, field), tree.Get(b, field)) {
			return false
		}
	}
	return true
}

// stale reports copies of d outside its targets. One in the input leaves the
// output; one in the cluster is for the next apply to prune.
func (e existing) stale(p *plan, d *distribution, targets []string) {
	for _, o := range e[d.copied()] {
		if _, wanted := slices.BinarySearch(targets, o.namespace); wanted || !o.belongsTo(d.r.Name()) {
			continue
		}
		then := "; Kruise would delete it"
		if !o.live {
			p.replaced[o.r] = true
			then = "; it is left out"
		}
		p.c.Findings.Add("resourcedistribution/stale-copy", d.r, "spec.targets", o.String()+" is a copy in a namespace that is no longer a target"+then)
	}
}

// stored returns the template as the API server would store it: stringData
// moves into data and wins there, a missing type of a Secret is Opaque. The
// bytes of a Secret are the same in both forms; writing data lets an apply
// remove keys, as Kruise does, which stringData cannot. All values that did not
// change are the template's own nodes. changed reports whether anything did.
func stored(template *tree.Node) (body *tree.Node, changed bool) {
	if tree.StrAt(template, "kind") != "Secret" {
		return template, false
	}
	if tree.StrAt(template, "type") == "" {
		body = tree.Shallow(template)
		tree.Set(body, "type", tree.String("Opaque"))
	}
	if !tree.Has(template, "stringData") {
		if body == nil {
			return template, false
		}
		return body, true
	}
	if body == nil {
		body = tree.Shallow(template)
	}
	data := tree.Map()
	if old := tree.Get(body, "data"); tree.IsMap(old) {
		data = tree.Shallow(old)
	}
	tree.Each(tree.Get(body, "stringData"), func(k, v *tree.Node) {
		tree.Set(data, k.Value, tree.String(base64.StdEncoding.EncodeToString([]byte(tree.Str(v)))))
	})
	tree.Replace(body, "stringData", "data", data)
	return body, true
}
