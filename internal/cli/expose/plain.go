package expose

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// own are labels that say something of an object alone: a Service gets the others.
var own = []string{kruise.DeleteProtectionLabel, kruise.SourceLabel}

// unlabelled is an object without such labels.
func unlabelled(object map[string]any) map[string]any {
	n := tree.Clone(tree.FromValue(object))
	for _, label := range own {
		tree.DeleteAt(n, "metadata", "labels", label)
	}
	out, ok := tree.Value(n).(map[string]any)
	if !ok {
		return object
	}
	return out
}

// plain gives kubectl an object that it can expose. A Service sees labels and ports of
// pods, and in these all workloads are alike: those that kubectl does not know are
// handed over as a ReplicaSet with their name, labels, selector and template.
func plain(object map[string]any) map[string]any {
	n := tree.FromValue(object)
	group, kind := resource.GroupOf(tree.StrAt(n, "apiVersion")), tree.StrAt(n, "kind")
	native := group == "apps" && (kind == kruise.KindStatefulSet || kind == kruise.KindDaemonSet)
	if group != kruise.Group && !native {
		return object
	}
	template := podsOf(n, kind)
	if template == nil {
		return object
	}
	selector := tree.Get(n, "spec", "selector")
	if selector == nil {
		selector = tree.Map("matchLabels", tree.FromValue(tree.Value(tree.Get(template, "metadata", "labels"))))
	}
	meta := tree.Map()
	for _, field := range []string{"name", "namespace", "labels"} {
		if v := tree.Get(n, "metadata", field); v != nil {
			tree.Set(meta, field, v)
		}
	}
	out := tree.Map("apiVersion", "apps/v1", "kind", kruise.KindReplicaSet, "metadata", meta,
		"spec", tree.Map("selector", single(selector), "template", template))
	return tree.Value(out).(map[string]any)
}

// podsOf is the template of a kind's pods, nil where it has none: of a SidecarSet what
// it adds to pods.
func podsOf(n *tree.Node, kind string) *tree.Node {
	switch kind {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindBroadcastJob:
		return tree.Get(n, "spec", "template")
	case kruise.KindUnitedDeployment:
		for _, field := range []string{"cloneSetTemplate", "advancedStatefulSetTemplate", "statefulSetTemplate", "deploymentTemplate"} {
			if t := tree.Get(n, "spec", "template", field, "spec", "template"); t != nil {
				return t
			}
		}
	case kruise.KindSidecarSet:
		containers := slices.Concat(tree.Items(tree.Get(n, "spec", "containers")), tree.Items(tree.Get(n, "spec", "initContainers")))
		list := tree.Seq()
		for _, c := range containers {
			tree.Append(list, []*tree.Node{tree.Map("name", tree.StrAt(c, "name"), "ports", tree.Seq(tree.Items(tree.Get(c, "ports"))...))})
		}
		return tree.Map("metadata", tree.Map(), "spec", tree.Map("containers", list))
	}
	return nil
}

// single writes expressions that ask for one value as labels, which a Service can
// select by; kubectl refuses the others.
func single(selector *tree.Node) *tree.Node {
	out := tree.Shallow(selector)
	if !tree.IsMap(out) {
		return tree.Map()
	}
	rest := tree.Seq()
	labels := tree.Map()
	tree.Each(tree.Get(selector, "matchLabels"), func(k, v *tree.Node) { tree.Set(labels, k.Value, v) })
	for _, e := range tree.Items(tree.Get(selector, "matchExpressions")) {
		values := tree.Items(tree.Get(e, "values"))
		key := tree.StrAt(e, "key")
		if have := tree.Get(labels, key); tree.StrAt(e, "operator") == "In" && len(values) == 1 && (have == nil || tree.Equal(have, values[0])) {
			tree.Set(labels, key, values[0])
			continue
		}
		tree.Append(rest, []*tree.Node{e})
	}
	tree.Delete(out, "matchExpressions")
	if len(rest.Content) > 0 {
		tree.Set(out, "matchExpressions", rest)
	}
	tree.Set(out, "matchLabels", labels)
	return out
}
