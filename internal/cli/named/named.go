// Package named finds the workload that a command line means: TYPE/NAME in
// kubectl's words, among the objects of files or of a cluster.
package named

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// types are the words for each kind of workload, the plural in the middle. A word
// that stands for two kinds means Kruise's first.
var types = []workload{
	kruised(kruise.KindCloneSet),
	kruised(kruise.KindStatefulSet),
	kruised(kruise.KindDaemonSet),
	kruised(kruise.KindSidecarSet),
	{"apps", kruise.KindDeployment, []string{"deployment", "deployments", "deploy"}},
	{"apps", kruise.KindStatefulSet, []string{"statefulset", "statefulsets", "sts"}},
	{"apps", kruise.KindDaemonSet, []string{"daemonset", "daemonsets", "ds"}},
	{"apps", kruise.KindReplicaSet, []string{"replicaset", "replicasets", "rs"}},
}

// workload is a kind with its words.
type workload struct {
	group, kind string
	words       []string
}

// kruised is the row of one of Kruise's workloads.
func kruised(kind string) workload {
	k, _ := kruise.Lookup(kruise.Group, kind)
	return workload{k.Group, k.Kind, k.Words()}
}

// Name is a workload as the command line names it.
type Name struct {
	// Kinds are what the type can mean, Kruise's first.
	Kinds []schema.GroupKind
	// Name is the object's name.
	Name string
	text string
}

// String returns the name as it was given.
func (n Name) String() string { return n.text }

// Parse reads TYPE/NAME; TYPE may carry its group, as statefulset.apps.kruise.io
// does. Errors are of usage.
func Parse(arg string) (Name, error) {
	kind, name, ok := strings.Cut(arg, "/")
	if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
		return Name{}, usage.Errorf("for instance cloneset/web", "%q is not TYPE/NAME", arg)
	}
	n := Name{Name: name, text: arg, Kinds: kindsOf(strings.ToLower(kind))}
	if len(n.Kinds) == 0 {
		return Name{}, usage.Errorf("types: "+strings.Join(Types(), ", "), "unknown type %q", kind)
	}
	return n, nil
}

// One reads the only argument of a verb, a TYPE/NAME. Errors are of usage.
func One(args []string) (Name, error) {
	if len(args) != 1 {
		return Name{}, usage.Errorf("for instance cloneset/web", "give one TYPE/NAME")
	}
	return Parse(args[0])
}

// Kinds reads types without a name, separated by commas; "" are all there are.
// Errors are of usage.
func Kinds(arg string) ([]schema.GroupKind, error) {
	var out []schema.GroupKind
	if arg == "" {
		for _, t := range types {
			out = append(out, schema.GroupKind{Group: t.group, Kind: t.kind})
		}
		return out, nil
	}
	for word := range strings.SplitSeq(arg, ",") {
		kinds := kindsOf(strings.ToLower(word))
		if len(kinds) == 0 {
			return nil, usage.Errorf("types: "+strings.Join(Types(), ", "), "unknown type %q", word)
		}
		out = append(out, kinds...)
	}
	return out, nil
}

// Of names an object of a kind.
func Of(kind schema.GroupKind, name string) Name {
	if kind == pods {
		return Name{Kinds: []schema.GroupKind{pods}, Name: name, text: "pod/" + name}
	}
	return Name{Kinds: []schema.GroupKind{kind}, Name: name, text: strings.ToLower(kind.Kind) + "." + kind.Group + "/" + name}
}

func kindsOf(word string) []schema.GroupKind {
	word, group, grouped := strings.Cut(word, ".")
	var out []schema.GroupKind
	for _, t := range types {
		for _, w := range t.words {
			if w == word && (!grouped || inGroup(group, t.group)) {
				out = append(out, schema.GroupKind{Group: t.group, Kind: t.kind})
			}
		}
	}
	return out
}

// inGroup reports whether what follows the first dot names the group, with or
// without a version before it.
func inGroup(given, group string) bool {
	_, unversioned, _ := strings.Cut(given, ".")
	return given == group || unversioned == group
}

// Means reports whether the name stands for this object.
func (n Name) Means(group, kind, name string) bool {
	if name != n.Name {
		return false
	}
	for _, k := range n.Kinds {
		if k.Group == group && k.Kind == kind {
			return true
		}
	}
	return false
}

// Types lists the first word of every kind, each once.
func Types() []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range types {
		if !seen[t.words[0]] {
			out = append(out, t.words[0])
		}
		seen[t.words[0]] = true
	}
	return out
}

// pods are no workloads: no argument of TYPE/NAME means one.
var pods = schema.GroupKind{Kind: "Pod"}

// Plural returns the name of the kind in URLs.
func Plural(k schema.GroupKind) string {
	if k == pods {
		return "pods"
	}
	for _, t := range types {
		if t.group == k.Group && t.kind == k.Kind {
			return t.words[1]
		}
	}
	return ""
}
