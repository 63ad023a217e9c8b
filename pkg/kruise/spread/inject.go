package spread

import (
	"encoding/json"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Inject returns the pod, or pod template, with what the subset puts into it;
// pod itself stays as it was. subset is an element of spec.subsets in the newest
// version. In the webhook's order: tolerations, preferred and required node
// affinity, the patch, the annotation. Errors name the place of the subset's patch.
func Inject(pod, subset *tree.Node, m Match) (*tree.Node, error) {
	out := tree.Clone(pod)
	if list := tree.Items(tree.Get(subset, "tolerations")); len(list) > 0 {
		tree.Append(tree.EnsureSeq(out, "spec", "tolerations"), list)
	}
	place(out, subset)
	before := tree.StrAt(out, "spec", "priorityClassName")
	out, err := kruise.PatchTree(out, tree.Get(subset, "patch"))
	if err != nil {
		return nil, err
	}
	if tree.StrAt(out, "spec", "priorityClassName") != before {
		tree.DeleteAt(out, "spec", "priority")
	}
	n := tree.String(m.String())
	n.Style = yaml.SingleQuotedStyle
	tree.SetAt(out, n, "metadata", "annotations", kruise.MatchedWorkloadSpreadAnnotation)
	return out, nil
}

// nodeAffinity leads to where a subset's node terms go. The webhook makes it even
// where it then has nothing to put there.
var nodeAffinity = []string{"spec", "affinity", "nodeAffinity"}

// The fields of the two kinds of node terms below nodeAffinity.
const (
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
)

func place(pod, subset *tree.Node) {
	affinity := tree.Ensure(pod, nodeAffinity...)
	if terms := tree.Items(tree.Get(subset, "preferredNodeSelector")); len(terms) > 0 {
		tree.Append(tree.EnsureSeq(affinity, preferred), terms)
	}
	if term := tree.Get(subset, "requiredNodeSelector"); tree.IsMap(term) {
		require(tree.EnsureSeq(affinity, required, "nodeSelectorTerms"), term)
	}
}

// require narrows each term of the list, since they are alternatives; an empty
// list gets the term as its only one.
func require(list, term *tree.Node) {
	if len(list.Content) == 0 {
		tree.Append(list, []*tree.Node{term})
		return
	}
	for i, have := range list.Content {
		list.Content[i] = Narrow(have, term)
	}
}

// Narrow returns a copy of a node selector term that asks for what further asks
// for as well.
func Narrow(term, further *tree.Node) *tree.Node {
	if !tree.IsMap(term) {
		return tree.Clone(further)
	}
	out := tree.Clone(term)
	for _, key := range []string{"matchExpressions", "matchFields"} {
		if more := tree.Items(tree.Get(further, key)); len(more) > 0 {
			tree.Append(tree.EnsureSeq(out, key), more)
		}
	}
	return out
}

// Tidy removes a node affinity without effect, with all parents that become empty: the webhook
// writes one into every pod, a rendered template does not need it.
func Tidy(pod *tree.Node) {
	for depth := len(nodeAffinity); depth > 1; depth-- {
		if n := tree.Get(pod, nodeAffinity[:depth]...); !tree.IsMap(n) || len(n.Content) > 0 {
			return
		}
		tree.DeleteAt(pod, nodeAffinity[:depth]...)
	}
}

// Match is the content of the annotation [kruise.MatchedWorkloadSpreadAnnotation] of a pod. UID
// replaces the name of a pod that had none yet when it was counted. The order of the fields is
// that of the JSON.
type Match struct {
	Spread string `json:"name"`
	Subset string `json:"subset"`
	UID    string `json:"uid,omitempty"`
}

// String is the annotation's value.
func (m Match) String() string {
	text, err := json.Marshal(m)
	if err != nil {
		return "" // texts always encode
	}
	return string(text)
}

// SubsetOf names the subset of a UnitedDeployment or WorkloadSpread that a pod is in, "" for none.
func SubsetOf(labels, annotations map[string]string) string {
	if name := labels[kruise.SubsetNameLabel]; name != "" {
		return name
	}
	match, _ := ReadMatch(annotations)
	return match.Subset
}

// ReadMatch reads a pod's annotation; ok is false when it has none that can be
// read.
func ReadMatch(annotations map[string]string) (m Match, ok bool) {
	text := annotations[kruise.MatchedWorkloadSpreadAnnotation]
	return m, text != "" && json.Unmarshal([]byte(text), &m) == nil
}
