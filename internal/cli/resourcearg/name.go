// Package resourcearg reads arguments that name objects: TYPE/NAME of workloads, the object
// that an argument of kubectl's form names, the pods that it means, and on a cluster
// without Kruise what was rendered for it. It offers the same names to the shell.
// It reads from clusters and never writes.
package resourcearg

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// workloadTypes are the words for each kind of workload, the plural in the middle. A word
// that two kinds share means Kruise's first.
var workloadTypes = []workloadType{
	kruiseType(kruise.KindCloneSet),
	kruiseType(kruise.KindStatefulSet),
	kruiseType(kruise.KindDaemonSet),
	kruiseType(kruise.KindSidecarSet),
	{"apps", kruise.KindDeployment, []string{"deployment", "deployments", "deploy"}},
	{"apps", kruise.KindStatefulSet, []string{"statefulset", "statefulsets", "sts"}},
	{"apps", kruise.KindDaemonSet, []string{"daemonset", "daemonsets", "ds"}},
	{"apps", kruise.KindReplicaSet, []string{"replicaset", "replicasets", "rs"}},
}

// workloadType is a kind with its words.
type workloadType struct {
	group, kind string
	words       []string
}

// kruiseType is the row of one of Kruise's workloads.
func kruiseType(kind string) workloadType {
	k, _ := kruise.Lookup(kruise.Group, kind)
	return workloadType{k.Group, k.Kind, k.Words()}
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
		return Name{}, command.Usagef("for instance cloneset/web", "%q is not TYPE/NAME", arg)
	}
	n := Name{Name: name, text: arg, Kinds: kindsOf(strings.ToLower(kind))}
	if len(n.Kinds) == 0 {
		return Name{}, command.Usagef("types: "+strings.Join(typeNames(), ", "), "unknown type %q", kind)
	}
	return n, nil
}

// ParseOne reads the only argument of a verb, a TYPE/NAME. Errors are of usage.
func ParseOne(args []string) (Name, error) {
	if len(args) != 1 {
		return Name{}, command.Usagef("for instance cloneset/web", "give one TYPE/NAME")
	}
	return Parse(args[0])
}

// ParseKinds reads types without a name, separated by commas; "" are all there are.
// Errors are of usage.
func ParseKinds(arg string) ([]schema.GroupKind, error) {
	var out []schema.GroupKind
	if arg == "" {
		for _, t := range workloadTypes {
			out = append(out, schema.GroupKind{Group: t.group, Kind: t.kind})
		}
		return out, nil
	}
	for word := range strings.SplitSeq(arg, ",") {
		kinds := kindsOf(strings.ToLower(word))
		if len(kinds) == 0 {
			return nil, command.Usagef("types: "+strings.Join(typeNames(), ", "), "unknown type %q", word)
		}
		out = append(out, kinds...)
	}
	return out, nil
}

// NameOf names an object of a kind.
func NameOf(kind schema.GroupKind, name string) Name {
	if kind == podKind {
		return Name{Kinds: []schema.GroupKind{podKind}, Name: name, text: "pod/" + name}
	}
	return Name{Kinds: []schema.GroupKind{kind}, Name: name, text: strings.ToLower(kind.Kind) + "." + kind.Group + "/" + name}
}

func kindsOf(word string) []schema.GroupKind {
	word, group, grouped := strings.Cut(word, ".")
	var out []schema.GroupKind
	for _, t := range workloadTypes {
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

// Means reports whether the name means this object.
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

// typeNames lists the first word of every kind, each once.
func typeNames() []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range workloadTypes {
		if !seen[t.words[0]] {
			out = append(out, t.words[0])
		}
		seen[t.words[0]] = true
	}
	return out
}

// podKind are no workloads: no argument of TYPE/NAME means one.
var podKind = schema.GroupKind{Kind: "Pod"}

// Plural returns the name of the kind in URLs.
func Plural(k schema.GroupKind) string {
	if k == podKind {
		return "pods"
	}
	for _, t := range workloadTypes {
		if t.group == k.Group && t.kind == k.Kind {
			return t.words[1]
		}
	}
	return ""
}

// ParsePod reads pod/NAME. A pod is no workload, and [Parse] does not know it; but it has a
// rollout of its own where it has no owner and its containers restart.
func ParsePod(arg string) (Name, bool) {
	kind, name, typed := strings.Cut(arg, "/")
	if !typed || name == "" || strings.Contains(name, "/") || !slices.Contains([]string{"pod", "pods", "po"}, strings.ToLower(kind)) {
		return Name{}, false
	}
	return NameOf(podKind, name), true
}

// ParseAny reads TYPE/NAME as [Parse] does, and pod/NAME. Errors are of usage.
func ParseAny(arg string) (Name, error) {
	if n, ok := ParsePod(arg); ok {
		return n, nil
	}
	return Parse(arg)
}

// ParseUnited is the name in uniteddeployment/NAME, with or without the group: a
// UnitedDeployment has several workloads, and [Parse] does not know it.
func ParseUnited(arg string) (name string, ok bool) {
	kind, name, ok := strings.Cut(arg, "/")
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	if united, _ := kruise.Lookup(kruise.Group, kruise.KindUnitedDeployment); !slices.Contains(united.Words(), word) {
		return "", false
	}
	own := group == "" || group == kruise.Group || strings.HasSuffix(group, "."+kruise.Group)
	return name, ok && own && name != "" && !strings.Contains(name, "/")
}
