package lower

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func (p *imagePull) neverCompletes() bool {
	return p.spec.CompletionPolicy.Type == kruise.NeverCompletionPolicyType
}

// daemonSets returns the DaemonSets of a job that never completes: they follow
// new nodes, pull in an init container, and then hold the node.
func (p *imagePull) daemonSets() ([]*resource.Resource, error) {
	terms, err := p.nodeTerms()
	if err != nil {
		return nil, err
	}
	if n, given := p.parallelism(); given && n == 0 {
		return nil, nil
	}
	var out []*resource.Resource
	for i, image := range p.images {
		name := p.pieceName(i, "")
		source := kruise.SourceValue(p.r.Kind(), name)
		template := p.pod(image)
		spec := tree.Get(template, "spec")
		// The pod that ends becomes one that keeps running when its work is done.
		tree.Delete(spec, "restartPolicy")
		tasks := tree.Seq(append(tree.Items(tree.Get(spec, "initContainers")), tree.Items(tree.Get(spec, "containers"))...)...)
		tree.Set(spec, "initContainers", tasks)
		tree.Set(spec, "containers", tree.Seq(pauseContainer("done")))
		tree.SetAt(template, tree.String(source), "metadata", "labels", kruise.SourceLabel)
		if terms != nil {
			tree.Set(spec, "affinity", tree.Map("nodeAffinity",
				tree.Map("requiredDuringSchedulingIgnoredDuringExecution", tree.Map("nodeSelectorTerms", tree.Clone(terms)))))
		} else if s := p.spec.Selector; s != nil && len(s.MatchLabels) > 0 {
			tree.Set(spec, "nodeSelector", tree.FromValue(stringValues(s.MatchLabels)))
		}
		set := p.native("apps/v1", kruise.KindDaemonSet, func(*tree.Node) *tree.Node {
			return tree.Map("selector", tree.Map("matchLabels", tree.Map(kruise.SourceLabel, source)), "template", template)
		})
		p.rename(set, name)
		out = append(out, resource.Derived(set, p.r))
	}
	return commentOnce(out), nil
}

// nodeTerms are the terms of a node affinity that chooses as the job does; nil
// where labels alone do, or every node.
func (p *imagePull) nodeTerms() (*tree.Node, error) {
	s := p.spec.Selector
	switch {
	case p.spec.PodSelector != nil:
		names, found, err := p.nodesOfPods(p.spec.PodSelector)
		if err != nil || found && len(names) > 0 {
			return nameTerms(names), err
		}
		return nil, p.r.Fault("spec.podSelector", "name the pods with --with or --live", "no pods are known, so the nodes that need the image are not known either")
	case s == nil:
		return nil, nil
	case len(s.Names) > 0:
		names, _, err := p.selectedNodes(&relatedObjects{})
		return nameTerms(names), err
	case len(s.MatchExpressions) > 0:
		return tree.Seq(tree.Map("matchExpressions", expressions(&s.LabelSelector))), nil
	}
	return nil, nil
}

// nameTerms chooses nodes by name: a term may name one only, and any term will do.
func nameTerms(names []string) *tree.Node {
	terms := tree.Seq()
	for _, name := range names {
		terms.Content = append(terms.Content, tree.Map("matchFields", tree.Seq(requirement("metadata.name", "In", []string{name}))))
	}
	return terms
}

// expressions are those of a label selector for a node selector, which knows no
// matchLabels; the operators have the same names.
func expressions(s *metav1.LabelSelector) *tree.Node {
	all := tree.Seq()
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		all.Content = append(all.Content, requirement(key, "In", []string{s.MatchLabels[key]}))
	}
	for _, e := range s.MatchExpressions {
		all.Content = append(all.Content, requirement(e.Key, string(e.Operator), e.Values))
	}
	return all
}

func requirement(key, operator string, values []string) *tree.Node {
	out := tree.Map("key", key, "operator", operator)
	if len(values) > 0 {
		tree.Set(out, "values", stringList(values...))
	}
	return out
}
