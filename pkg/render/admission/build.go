package admission

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// outsideLabel on a Namespace keeps Kruise's pod webhook away, whatever its value
// (semantics sidecarset 1).
const outsideLabel = "control-plane"

// builder writes the policy of one set.
type builder struct {
	set *inject.Content
	// alone is a pod with nothing in it but what the set puts into every pod.
	alone *tree.Node
	// own are the names of the set's containers.
	own   []string
	peers peers
	// lists is set when CEL has its list library.
	lists bool
	vars  []policy.Named
	patch policy.Patch
}

// policy returns the policy of s, which knows the other sets of the render: the
// API server calls policies in no fixed order, and positions must come out the same.
func (s *set) policy(c *stage.Context, sets []*set) (*policy.Policy, error) {
	b := &builder{set: s.Current(), peers: peersOf(s, sets), lists: c.Since(lists)}
	var err error
	if b.alone, err = b.set.Alone(); err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(s.inits, s.containers) {
		b.own = append(b.own, p.Name)
	}
	b.annotations()
	b.containers("initContainers", s.inits)
	b.containers("containers", s.containers)
	b.volumes()
	b.pullSecrets()
	return &policy.Policy{
		Name: policy.Name(kind, "", s.Name), Source: s.source(),
		Namespaces: s.namespaces(), Pods: tree.Clone(tree.Get(s.hub, "spec", "selector")),
		Conditions: s.conditions(sets), Variables: b.vars, Patch: b.patch.String(),
	}, nil
}

// namespaces is the set's selector, without the namespaces that Kruise's webhook
// leaves alone.
func (s *set) namespaces() *tree.Node {
	outside := tree.Map("key", outsideLabel, "operator", "DoesNotExist")
	n := tree.Clone(tree.Get(s.hub, "spec", "namespaceSelector"))
	if n == nil {
		return tree.Map("matchExpressions", tree.Seq(outside))
	}
	list := tree.EnsureSeq(n, "matchExpressions")
	list.Content = append(list.Content, outside)
	return n
}

// conditions keep the policy from pods that the set does not go into although its
// selectors match. A set that is paused keeps its policy, so that applying the
// output ends an injection that went on before.
func (s *set) conditions(sets []*set) []policy.Named {
	pods, _ := s.Selectors()
	switch {
	case s.Paused():
		return []policy.Named{{Name: "injection-is-paused", Expression: "false"}}
	case policy.Matches(pods, "object") == "false":
		return []policy.Named{{Name: "selector-is-empty", Expression: "false"}}
	}
	var canaries []string
	for _, other := range sets {
		if other.Base() == s.Name && !other.Paused() {
			canaries = append(canaries, other.matches())
		}
	}
	if len(canaries) == 0 {
		return nil
	}
	return []policy.Named{{Name: "no-canary-matches", Expression: "!(" + strings.Join(canaries, " || ") + ")"}}
}

// matches is CEL that tells whether the set goes into the pod.
func (s *set) matches() string {
	pods, namespaces := s.Selectors()
	cel := "(" + policy.Matches(pods, "object")
	if namespaces != nil {
		cel += " && " + policy.Matches(namespaces, "namespaceObject")
	}
	return cel + ")"
}

// variable adds one, unless there is one of that name, and returns how to ask for
// it.
func (b *builder) variable(name, expression string) string {
	for _, v := range b.vars {
		if v.Name == name {
			return "variables." + name
		}
	}
	b.vars = append(b.vars, policy.Named{Name: name, Expression: expression})
	return "variables." + name
}
