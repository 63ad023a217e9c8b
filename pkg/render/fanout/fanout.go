// Package fanout is the stage in which ResourceDistributions become one copy per target namespace.
// First a plan decides which namespaces get which copy, considering all ResourceDistributions;
// then the copies are created.
package fanout

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = kruise.KindResourceDistribution

// Run is the stage. The copies of a ResourceDistribution take its place,
// sorted by namespace.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(kind) {
		return in, nil
	}
	p, err := newPlan(c, in)
	if err != nil || len(p.copies) == 0 {
		return in, err
	}
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		switch d := p.copies[r]; {
		case d != nil:
			return d.render(), nil
		case p.replaced[r]:
			return nil, nil
		default:
			return []*resource.Resource{r}, nil
		}
	})
}

// distribution is one ResourceDistribution on its way to copies.
type distribution struct {
	r       *resource.Resource
	targets kruise.ResourceDistributionTargets
	// selector is nil when there is none or an empty one, which selects nothing.
	selector labels.Selector
	// kind and name are those of the copies; body is the copies' tree as the
	// API server would store it, still with the template's metadata.
	kind, name string
	body       *tree.Node
	stringData bool
	// hash is Kruise's hashcode annotation, size the bytes of one copy, about.
	hash string
	size int
	// namespaces get a copy.
	namespaces []string
}

func newDistribution(r *resource.Resource) (*distribution, error) {
	var rd kruise.ResourceDistribution
	if _, err := kruise.Decode(r.Node(), &rd); err != nil {
		return nil, r.Wrap(err, "")
	}
	d := &distribution{r: r, targets: rd.Spec.Targets}
	if s := &d.targets.NamespaceSelector; len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			return nil, r.Fault(d.selectorField(), "", "%v", err)
		}
		d.selector = selector
	}
	template := tree.Get(r.Node(), "spec", "resource")
	if !tree.IsMap(template) {
		return nil, r.Fault("spec.resource", "", "there is nothing to distribute")
	}
	d.kind, d.name = tree.StrAt(template, "kind"), tree.StrAt(template, "metadata", "name")
	d.body, d.stringData = stored(template)
	d.hash, d.size = hashcode(template)
	return d, nil
}

// hashcode is the hexadecimal SHA-256 of the template as compact JSON with
// sorted keys and with <, > and & escaped (docs/kruise/distribution.md#observed-on-a-cluster). size
// is the length of that JSON.
func hashcode(template *tree.Node) (hash string, size int) {
	b, err := json.Marshal(tree.Value(template))
	if err != nil { // tree.Value returns nothing that cannot be marshalled
		panic("fanout: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), len(b)
}

// copied is the ID of the copies, without a namespace.
func (d *distribution) copied() resource.ID {
	return resource.ID{Kind: d.kind, Name: d.name}
}

// selectorField is the selector's path in the version that the user wrote.
func (d *distribution) selectorField() string {
	if d.r.Version() == "v1alpha1" {
		return "spec.targets.namespaceLabelSelector"
	}
	return "spec.targets.namespaceSelector"
}

// plan defines what becomes of every ResourceDistribution.
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
			return d.r.Fault("spec.targets", "narrow the targets, render the distributions separately, or raise the limits with --limit copies=N,copy-bytes=N",
				"all copies together are %d with %d MiB, more than %d copies or %d MiB", copies, size>>20, most.Copies, most.CopyBytes>>20)
		}
		if nodes > most.OutputNodes {
			return d.r.Fault("spec.targets", "narrow the targets, render the distributions separately, or raise the limit with --limit output-nodes=N",
				"all copies together are %d with %d values and keys, more than the %d that the output may hold", copies, nodes, most.OutputNodes)
		}
	}
	return nil
}

// add settles the namespaces of d: its targets without those that have an object of another owner.
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

// render makes the copies. They share everything but the level of metadata:
// it must not be edited below.
func (d *distribution) render() []*resource.Resource {
	metadata := d.metadata()
	at := slices.IndexFunc(metadata.Content, func(n *tree.Node) bool { return n.Value == "namespace" }) + 1
	out := make([]*resource.Resource, len(d.namespaces))
	for i, ns := range d.namespaces {
		own := tree.Shallow(metadata)
		own.Content[at] = tree.String(ns)
		root := tree.Shallow(d.body)
		root.Style &^= yaml.FlowStyle
		tree.Set(root, "metadata", own)
		out[i] = resource.Derived(root, d.r)
	}
	return out
}

// kept are the fields of the template's metadata that a copy has: those of the
// API server's own keeping make no sense in another namespace.
var kept = []string{"labels", "annotations", "finalizers", "ownerReferences"}

// metadata is that of a copy, with an empty namespace.
func (d *distribution) metadata() *tree.Node {
	template := tree.Get(d.body, "metadata")
	out := tree.Map("name", d.name, "namespace", "")
	for _, key := range kept {
		if v := tree.Get(template, key); v != nil {
			tree.Set(out, key, v)
		}
	}
	d.extend(out, "labels", kruise.SourceLabel, kruise.SourceValue(kind, d.r.Name()))
	d.extend(out, "annotations", kruise.ResourceDistributedByAnnotation, d.r.Name())
	d.extend(out, "annotations", kruise.ResourceHashCodeAnnotation, d.hash)
	return out
}

// extend sets one text in the mapping field of metadata, on a copy of that.
func (d *distribution) extend(metadata *tree.Node, field, key, value string) {
	texts := tree.Map()
	if old := tree.Get(metadata, field); tree.IsMap(old) {
		texts = tree.Shallow(old)
		texts.Style &^= yaml.FlowStyle
	}
	tree.Set(texts, key, tree.String(value))
	tree.Set(metadata, field, texts)
}
