package migrate

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Kind is a kind that takes part in migrations.
type Kind struct {
	Group, Kind string
	// Word names the kind where --to of convert is meant; Words are all that mean it,
	// in lower case.
	Word  string
	Words []string
	// Counterpart is the kind on the other side, with Kruise or without.
	Counterpart *Kind
	// Keeps says that pods keep their names and claims: there is only one of a name.
	Keeps bool
	// Nodes says that nodes make the number of pods: none moves alone, see [Handover].
	Nodes bool
}

// kinds are those of both sides.
var kinds = paired(
	Kind{Group: "apps", Kind: kruise.KindDeployment, Word: kruise.KindDeployment, Words: []string{"deployment", "deployments", "deploy"}},
	Kind{Group: kruise.Group, Kind: kruise.KindCloneSet, Word: kruise.KindCloneSet, Words: []string{"cloneset", "clonesets", "clone"}},
	Kind{Group: "apps", Kind: kruise.KindStatefulSet, Word: kruise.KindStatefulSet, Words: []string{"statefulset", "statefulsets", "sts"}, Keeps: true},
	Kind{Group: kruise.Group, Kind: kruise.KindStatefulSet, Word: "AdvancedStatefulSet", Words: []string{"advancedstatefulset", "advancedstatefulsets", "asts"}, Keeps: true},
	Kind{Group: "apps", Kind: kruise.KindDaemonSet, Word: kruise.KindDaemonSet, Words: []string{"daemonset", "daemonsets", "ds"}, Nodes: true},
	Kind{Group: kruise.Group, Kind: kruise.KindDaemonSet, Word: "AdvancedDaemonSet", Words: []string{"advanceddaemonset", "advanceddaemonsets", "ads", "daemon"}, Nodes: true},
)

// paired makes each two neighbours counterparts.
func paired(list ...Kind) []*Kind {
	var out []*Kind
	for i := 0; i+1 < len(list); i += 2 {
		a, b := list[i], list[i+1]
		a.Counterpart, b.Counterpart = &b, &a
		out = append(out, &a, &b)
	}
	return out
}

// KindOf finds the kind that a word means: its name, or kind.group; nil for none.
func KindOf(word string) *Kind {
	word = strings.ToLower(word)
	name, group, grouped := strings.Cut(word, ".")
	for _, k := range kinds {
		if !grouped && slices.Contains(k.Words, word) {
			return k
		}
		if grouped && group == k.Group && strings.TrimSuffix(name, "s") == strings.ToLower(k.Kind) {
			return k
		}
	}
	return nil
}

// Of finds a kind; nil where it takes no part.
func Of(group, kind string) *Kind {
	for _, k := range kinds {
		if k.Group == group && k.Kind == kind {
			return k
		}
	}
	return nil
}

// Words are the proper names of all kinds.
func Words() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.Word)
	}
	return out
}

// Native reports whether Kubernetes itself has the kind.
func (k *Kind) Native() bool { return k.Group != kruise.Group }

// Resource is the kind's name in URLs.
func (k *Kind) Resource() string { return strings.ToLower(k.Kind) + "s" }
