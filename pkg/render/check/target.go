package check

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// targetRule describes which workloads a kind can act on.
type targetRule struct {
	path string
	// permitted are GROUP/KIND; none permits every kind.
	permitted []string
	// whiteList is the key of Kruise's configuration for further kinds.
	whiteList string
	// assumed: where the configuration is not known, it is taken to list no further kinds.
	assumed bool
}

// targetNamed wants a complete reference to a kind of object that the rule permits.
func targetNamed(s *subject, t targetRule, ref *kruise.TargetReference) bool {
	if ref.APIVersion == "" || ref.Kind == "" || ref.Name == "" {
		s.fault(t.path, "give apiVersion, kind and name", "the target needs apiVersion, kind and name")
		return false
	}
	if _, err := schema.ParseGroupVersion(ref.APIVersion); err != nil {
		s.fault(t.path+".apiVersion", "", "%q is not an API version", ref.APIVersion)
		return false
	}
	if noSuchKind(resource.GroupOf(ref.APIVersion), ref.Kind) {
		s.fault(t.path+".kind", "want "+choiceText(t.permitted), "%s has no kind %s", ref.APIVersion, ref.Kind)
		return false
	}
	if len(t.permitted) == 0 || slices.Contains(t.permitted, resource.GroupOf(ref.APIVersion)+"/"+ref.Kind) || s.isWhitelisted(t.whiteList, ref.Kind) || !t.assumed && !s.Known && s.configuration() == nil {
		return true
	}
	s.fault(t.path, "further kinds can be listed under "+t.whiteList+" in ConfigMap "+kruise.ConfigurationName+", which you can pass with --with",
		"%s of %s is not supported here: want %s", ref.Kind, ref.APIVersion, choiceText(t.permitted))
	return false
}

// workloadKinds are the kinds of Kubernetes' own groups that hold pods.
var workloadKinds = map[string][]string{
	"apps":  {kruise.KindDeployment, kruise.KindReplicaSet, kruise.KindStatefulSet, kruise.KindDaemonSet},
	"batch": {"Job", "CronJob"},
}

// noSuchKind reports a kind that the group does not have.
func noSuchKind(group, kind string) bool {
	if group == kruise.Group || group == kruise.PolicyGroup {
		_, there := kruise.Lookup(group, kind)
		return !there
	}
	kinds, known := workloadKinds[group]
	return known && !slices.Contains(kinds, kind)
}

// uniqueTarget wants no other object of the same kind to have the same target.
func uniqueTarget(s *subject, t targetRule, ref *kruise.TargetReference) {
	p, id := findPeers(s.c.Facts, s.kind.group, s.kind.kind), s.c.Facts.IDOf(s.r)
	target := resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: id.Namespace, Name: ref.Name}
	others := first(slices.Values(targetIndex(s, p)[target]), func(place int) bool { return p.existsBefore(place, s.Object, id) })
	if len(others) > 0 {
		s.fault(t.path, "", "%s %s %s the same target", s.kind.kind, p.names(others), counted.Word(len(others), "has", "have"))
	}
}

// targetsOf is the key of the index of one kind's targets.
type targetsOf peersOf

// targetIndex returns the indices of peers by the object that their spec.targetRef refers to,
// in any version. It is made once for all objects of the kind.
func targetIndex(s *subject, p *peers) map[resource.ID][]int {
	return resource.Once(s.c.Facts, targetsOf{s.kind.group, s.kind.kind}, func() map[resource.ID][]int {
		out := map[resource.ID][]int{}
		for place, o := range p.all {
			if ref := tree.Get(o.r.Node(), "spec", "targetRef"); ref != nil {
				id := resource.ID{Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"), Namespace: o.id.Namespace, Name: tree.StrAt(ref, "name")}
				out[id] = append(out[id], place)
			}
		}
		return out
	})
}

// refersTo reports whether both references are to the same object, in any version.
func refersTo(ref *kruise.TargetReference, n *tree.Node) bool {
	return resource.GroupOf(ref.APIVersion) == resource.GroupOf(tree.StrAt(n, "apiVersion")) &&
		ref.Kind == tree.StrAt(n, "kind") && ref.Name == tree.StrAt(n, "name")
}

// configuration returns the ConfigMap with Kruise's settings, nil if it is not known.
func (s *subject) configuration() *tree.Node {
	cm := s.c.Facts.Find(resource.ID{Kind: "ConfigMap", Namespace: kruise.DefaultNamespace, Name: kruise.ConfigurationName})
	if cm == nil {
		return nil
	}
	return cm.Node()
}

// isWhitelisted reports whether the configuration lists the kind.
func (s *subject) isWhitelisted(key, kind string) bool {
	var list any
	text := tree.StrAt(s.configuration(), "data", key)
	return json.Unmarshal([]byte(text), &list) == nil && containsKind(list, kind)
}

// containsKind looks for an object with this kind anywhere in what JSON holds.
func containsKind(v any, kind string) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return containsKind(item, kind) })
	case map[string]any:
		for key, item := range v {
			if strings.EqualFold(key, "kind") && item == kind || containsKind(item, kind) {
				return true
			}
		}
	}
	return false
}
