// Package rbac knows which permissions rollouts need of a cluster. The check before
// the first write and the roles that are printed come from one table, so that they
// cannot differ.
package rbac

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Need is one kind of requests.
type Need struct {
	Group, Resource, Subresource, Verb string
	// Where is where it is needed.
	Where Where
	// Optional is what a rollout continues without.
	Optional bool
}

// Where is the namespace that a need is in.
type Where string

// The namespaces.
const (
	// InNamespace is the namespace of the workload; all namespaces for a kind that has
	// none, such as a SidecarSet.
	InNamespace Where = ""
	// State is where the record is: in the namespace of the workload, or in the one that is
	// kept for kinds without one.
	State Where = "state"
	// Home is the namespace of Kruise itself.
	Home Where = "home"
	// Everywhere is for what has no namespace.
	Everywhere Where = "everywhere"
)

// Path is the resource as roles name it: pods/eviction.
func (n Need) Path() string {
	if n.Subresource == "" {
		return n.Resource
	}
	return n.Resource + "/" + n.Subresource
}

// String names a need as people do: patch clonesets.apps.kruise.io.
func (n Need) String() string {
	text := n.Verb + " " + n.Path()
	if n.Group != "" {
		text += "." + n.Group
	}
	return text
}

// list gathers needs, each once.
type list []Need

func (l *list) add(where Where, group, path string, verbs ...string) {
	l.put(Need{Group: group, Where: where}, path, verbs)
}

// addOptional adds what is done without where it is missing.
func (l *list) addOptional(where Where, group, path string, verbs ...string) {
	l.put(Need{Group: group, Where: where, Optional: true}, path, verbs)
}

func (l *list) put(n Need, path string, verbs []string) {
	n.Resource, n.Subresource, _ = strings.Cut(path, "/")
	for _, n.Verb = range verbs {
		if !slices.Contains(*l, n) {
			*l = append(*l, n)
		}
	}
}

// sorted orders needs by group, resource and verb.
func sorted(l list) []Need {
	slices.SortStableFunc(l, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Path(), b.Path()), cmp.Compare(a.Verb, b.Verb))
	})
	return l
}

// Grants reports whether rules allow a need for every object of its kind: a rule for
// objects by their names does not.
func Grants(rules []rbacv1.PolicyRule, n Need) bool {
	covered, _ := validation.Covers(rules, []rbacv1.PolicyRule{
		{Verbs: []string{n.Verb}, APIGroups: []string{n.Group}, Resources: []string{n.Path()}},
	})
	return covered
}
