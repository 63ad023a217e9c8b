package split

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/kyaml/yaml"

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
	selector := tree.Clone(tree.Get(x.hub, "spec", "selector"))
	tree.SetAt(selector, tree.String(x.spec.Topology.Subsets[i].Name), "matchLabels", kruise.SubsetNameLabel)
	tree.InsertAfter(spec, "replicas", "selector", selector)
	if err := x.setPartition(spec, i); err != nil {
		return nil, err
	}
	template, err := x.podTemplate(tree.Get(spec, "template"), i)
	if err != nil {
		return nil, err
	}
	tree.Set(spec, "template", template)
	if err := x.checkSelector(template, selector, i); err != nil {
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

// checkSelector refuses a workload that Kubernetes would refuse: one whose selector
// does not take its own pods.
func (x *expansion) checkSelector(template, selector *tree.Node, i int) error {
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
		"the pods of subset %s have the labels %s, which its selector %s does not match: no workload could be created",
		subset, labels.Set(set), compact(selector, false))
}

// annotationLimit is what the API server lets all annotations of an object add
// up to, in bytes.
const annotationLimit = 256 << 10

// prefixes and suffixes are how kustomize remembers which of its layers an
// object has passed; without them it does not find the names that the object
// refers to (docs/facts/kustomize.md#roles).
var layers = []string{"internal.config.kubernetes.io/prefixes", "internal.config.kubernetes.io/suffixes"}

// metadata of the workload of subset i
// (docs/kruise/distribution.md#what-a-subsets-workload-looks-like, points 1 to 3): the template's
// labels and annotations, never the UnitedDeployment's own.
func (x *expansion) metadata(i int) (*tree.Node, error) {
	subset := x.spec.Topology.Subsets[i].Name
	name := x.form.name(x.r.Name(), subset)
	if whole := x.r.Name() + "-" + subset; name != whole {
		x.report("uniteddeployment/name-shortened", "metadata.name", name+" in place of "+whole)
	}
	m := tree.Map("name", name)
	if ns := x.r.Namespace(); ns != "" {
		tree.Set(m, "namespace", tree.String(ns))
	}
	tree.Set(m, "labels", x.labels(subset))
	annotations := x.annotations(i)
	tree.Set(m, "annotations", annotations)
	size := 0
	for k, v := range tree.Strings(annotations) {
		size += len(k) + len(v)
	}
	if size > annotationLimit {
		return nil, x.r.Fault("spec", "split it into several UnitedDeployments",
			"the annotations of workload %s would have %d bytes, more than the %d that Kubernetes allows", name, size, annotationLimit)
	}
	return m, nil
}

func (x *expansion) labels(subset string) *tree.Node {
	m := copyMapping(tree.Get(x.template, "metadata", "labels"))
	tree.Each(tree.Get(x.hub, "spec", "selector", "matchLabels"), func(k, v *tree.Node) {
		tree.Set(m, k.Value, tree.String(tree.Str(v)))
	})
	tree.Set(m, kruise.SubsetNameLabel, tree.String(subset))
	tree.Set(m, kruise.SourceLabel, tree.String(x.source))
	return m
}

func (x *expansion) annotations(i int) *tree.Node {
	m := copyMapping(tree.Get(x.template, "metadata", "annotations"))
	for _, key := range layers {
		if v := x.r.Annotation(key); v != "" {
			tree.Set(m, key, tree.String(v))
		}
	}
	subset := tree.Items(tree.Get(x.hub, "spec", "topology", "subsets"))[i]
	tree.Set(m, kruise.SubsetPatchAnnotation, quoted(compact(tree.Get(subset, "patch"), true)))
	return m
}

// quoted returns the scalar of a JSON text, in the quotes that leave it
// readable.
func quoted(json string) *tree.Node {
	n := tree.String(json)
	if json != "" {
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// copyMapping clones a mapping for adding keys of any length.
func copyMapping(n *tree.Node) *tree.Node {
	if !tree.IsMap(n) {
		return tree.Map()
	}
	c := tree.Clone(n)
	c.Style &^= yaml.FlowStyle
	return c
}

// setPartition writes how many pods of subset i stay at the old revision: the number of
// manualUpdate, at most all of them (docs/kruise/distribution.md#update-strategy).
func (x *expansion) setPartition(spec *tree.Node, i int) error {
	given, count := x.partition(i), x.counts[i]
	strategy := tree.Get(spec, "updateStrategy")
	kind := tree.StrAt(strategy, "type")
	onDelete := kind != "" && kind != "RollingUpdate"
	switch {
	case x.form.paced == never:
		x.reportPartition(i, "uniteddeployment/partition-deployment", "")
		return nil
	case x.form.paced == unlessOnDelete && onDelete:
		x.reportPartition(i, "uniteddeployment/partition-on-delete", "")
		return nil
	case onDelete && tree.Get(strategy, "rollingUpdate", "maxUnavailable") == nil:
		return x.r.Fault("spec.template."+x.form.field+".spec.updateStrategy.type", "use RollingUpdate, or set rollingUpdate.maxUnavailable beside it",
			"Kruise would create no workload: its webhook requires maxUnavailable beside the partition, and %s does not set it", kind)
	case given > count:
		x.reportPartition(i, "uniteddeployment/partition-clamped", fmt.Sprintf("%d in place of %d: subset %s has no more replicas", count, given, x.spec.Topology.Subsets[i].Name))
	default:
		x.reportPartition(i, "uniteddeployment/partitions", "")
	}
	if !tree.IsMap(strategy) {
		strategy = tree.Map("type", "RollingUpdate")
		tree.InsertAfter(spec, "selector", "updateStrategy", strategy)
	}
	tree.SetAt(strategy, tree.Int64(int64(min(given, count))), "rollingUpdate", "partition")
	return nil
}

// partition is the partition of subset i in manualUpdate, 0 without one.
func (x *expansion) partition(i int) int32 {
	if x.spec.UpdateStrategy.ManualUpdate == nil {
		return 0
	}
	return x.spec.UpdateStrategy.ManualUpdate.Partitions[x.spec.Topology.Subsets[i].Name]
}

// reportPartition reports on a partition that holds something back.
func (x *expansion) reportPartition(i int, id, detail string) {
	if x.partition(i) > 0 {
		x.report(id, "spec.updateStrategy.manualUpdate.partitions["+x.spec.Topology.Subsets[i].Name+"]", detail)
	}
}

// first sets key to v in the mapping n; a new key comes before the others.
func first(n *tree.Node, key string, v *tree.Node) {
	if tree.Has(n, key) {
		tree.Set(n, key, v)
		return
	}
	n.Content = append([]*tree.Node{tree.String(key), v}, n.Content...)
}

// mapAt returns the mapping under key, made as a new first key when it is
// missing or null.
func mapAt(n *tree.Node, key string) *tree.Node {
	if m := tree.Get(n, key); tree.IsMap(m) {
		return m
	}
	m := tree.Map()
	first(n, key, m)
	return m
}

// place binds the pods of template to the nodes of the subset and lets them
// tolerate its taints (docs/kruise/distribution.md#what-a-subsets-workload-looks-like, points 7 and
// 8). Only matchExpressions count.
func place(template, subset *tree.Node) {
	if terms := tree.Items(tree.Get(subset, "nodeSelectorTerm", "matchExpressions")); len(terms) > 0 {
		require(template, terms)
	}
	tolerations := tree.Items(tree.Get(subset, "tolerations"))
	if len(tolerations) == 0 {
		return
	}
	tree.Append(tree.EnsureSeq(template, "spec", "tolerations"), tolerations)
}

// require appends the expressions to each required node affinity term, since
// terms are alternatives; without any it makes one.
func require(template *tree.Node, expressions []*tree.Node) {
	list := tree.EnsureSeq(template, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	if len(list.Content) == 0 {
		list.Content = append(list.Content, tree.Map())
	}
	for i, term := range list.Content {
		if !tree.IsMap(term) {
			term = tree.Map()
			list.Content[i] = term
		}
		tree.Append(tree.EnsureSeq(term, "matchExpressions"), expressions)
	}
}

// pullAlways writes the imagePullPolicy that Kruise's webhook gives to the
// containers of a statefulSetTemplate, whatever their tag; those that a patch
// adds later do not get it, and init containers follow their tag
// (docs/kruise/distribution.md#observed-on-a-cluster).
func pullAlways(template *tree.Node) {
	for _, c := range tree.Items(tree.Get(template, "spec", "containers")) {
		if tree.IsMap(c) && tree.Get(c, "imagePullPolicy") == nil {
			tree.InsertAfter(c, "image", "imagePullPolicy", tree.String("Always"))
		}
	}
}

// compact is n as JSON on one line with sorted keys, "" for nil.
func compact(n *tree.Node, escape bool) string {
	if n == nil {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escape)
	if err := e.Encode(tree.Value(n)); err != nil {
		return "" // values of a tree always encode
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
