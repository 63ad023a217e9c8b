package split

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

// first sets key to v in the mapping n; a new key stands before the others.
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
