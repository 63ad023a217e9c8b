package split

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// workload returns the object of subset i
// (docs/kruise/distribution.md#what-a-subsets-workload-looks-like). The label with the revision
// hash and the owner reference are left out: they belong to a running controller, and the label
// would restart every pod at any change of the template.
func (x *expansion) workload(i int) (*tree.Node, error) {
	spec := tree.Clone(tree.Get(x.template, "spec"))
	first(spec, "replicas", tree.Int64(int64(x.counts[i])))
	selector := x.subsetSelector(i)
	tree.InsertAfter(spec, "replicas", "selector", selector)
	if err := x.pace(spec, i); err != nil {
		return nil, err
	}
	template, err := x.podTemplate(tree.Get(spec, "template"), i)
	if err != nil {
		return nil, err
	}
	tree.Set(spec, "template", template)
	if err := x.selected(template, selector, i); err != nil {
		return nil, err
	}
	meta, err := x.metadata(i)
	if err != nil {
		return nil, err
	}
	out := tree.Map("apiVersion", x.form.apiVersion, "kind", x.form.kind, "metadata", meta, "spec", spec)
	x.comments(out, i)
	return out, nil
}

// comments puts what was written above the UnitedDeployment above the first
// of its workloads, and what was written about the template's spec above each.
func (x *expansion) comments(out *tree.Node, i int) {
	if i == 0 {
		out.HeadComment = x.hub.HeadComment
		if len(x.hub.Content) > 0 {
			out.Content[0].HeadComment = x.hub.Content[0].HeadComment
		}
	}
	tree.Each(x.template, func(key, _ *tree.Node) {
		if key.Value == "spec" {
			out.Content[6].HeadComment, out.Content[6].LineComment = key.HeadComment, key.LineComment
		}
	})
}

// subsetSelector is the UnitedDeployment's selector, narrowed to the subset.
func (x *expansion) subsetSelector(i int) *tree.Node {
	selector := tree.Clone(tree.Get(x.hub, "spec", "selector"))
	tree.SetAt(selector, tree.String(x.spec.Topology.Subsets[i].Name), "matchLabels", kruise.SubsetNameLabel)
	return selector
}

// podTemplate edits the pod template of subset i.
func (x *expansion) podTemplate(template *tree.Node, i int) (*tree.Node, error) {
	subset := tree.Items(tree.Get(x.hub, "spec", "topology", "subsets"))[i]
	tree.Set(mapAt(mapAt(template, "metadata"), "labels"), kruise.SubsetNameLabel, tree.String(x.spec.Topology.Subsets[i].Name))
	place(template, subset)
	if x.form.kind == kruise.KindStatefulSet && x.form.group == "apps" {
		pullAlways(template)
	}
	out, err := kruise.PatchTree(template, tree.Get(subset, "patch"))
	return out, x.r.Wrap(err, fmt.Sprintf("spec.topology.subsets[%d].patch", i))
}

// selected refuses a workload that Kubernetes would refuse: one whose selector
// does not take its own pods.
func (x *expansion) selected(template, selector *tree.Node, i int) error {
	set := tree.Strings(tree.Get(template, "metadata", "labels"))
	subset := x.spec.Topology.Subsets[i].Name
	if x.selects(set) && set[kruise.SubsetNameLabel] == subset {
		return nil
	}
	path := "spec.template." + x.form.field + ".spec.template.metadata.labels"
	at := fmt.Sprintf("spec.topology.subsets[%d].patch.metadata.labels", i)
	if _, there := tree.At(x.hub, at); there {
		path = at
	}
	return x.r.Fault(path, "give the pods the labels that spec.selector asks for",
		"the pods of subset %s have the labels %s, which its selector %s does not take: no workload could be made",
		subset, labels.Set(set), compact(selector, false))
}
