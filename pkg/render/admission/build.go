package admission

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

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
	b.patch.Unless(superseded(s, sets))
	var err error
	if b.alone, err = b.set.Alone(); err != nil {
		return nil, err
	}
	for _, p := range s.pieces() {
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
		Conditions: s.conditions(), Variables: b.vars, Patch: b.patch.String(),
	}, nil
}

// namespaces is the set's selector, without the namespaces that Kruise's webhook
// leaves alone.
func (s *set) namespaces() *tree.Node {
	outside := tree.Map("key", kruise.OutsideLabel, "operator", "DoesNotExist")
	n := tree.Clone(tree.Get(s.hub, "spec", "namespaceSelector"))
	if n == nil {
		return tree.Map("matchExpressions", tree.Seq(outside))
	}
	n.Style &^= yaml.FlowStyle
	list := tree.EnsureSeq(n, "matchExpressions")
	list.Content = append(list.Content, outside)
	return n
}

// conditions keep a policy that matches no pod. It is there so that applying the
// output ends an injection that went on before.
func (s *set) conditions() []policy.Named {
	if why := s.idle(); why != "" {
		return []policy.Named{{Name: why, Expression: "false"}}
	}
	return nil
}

// idle says why a set goes into no pod at all, "" when it may.
func (s *set) idle() string {
	pods, _ := s.Selectors()
	switch {
	case s.Paused():
		return "injection-is-paused"
	case policy.Matches(pods, "object") == "false":
		return "selector-is-empty"
	}
	return ""
}

// superseded is CEL that tells whether a canary takes the place of s, "" when there
// is none.
func superseded(s *set, sets []*set) string {
	var canaries []string
	for _, other := range sets {
		if other.Base() == s.Name && other.idle() == "" {
			canaries = append(canaries, "("+other.selects()+")")
		}
	}
	return strings.Join(canaries, " || ")
}

// goes is CEL that tells whether s goes into the pod.
func goes(s *set, sets []*set) string {
	if by := superseded(s, sets); by != "" {
		return s.selects() + " && !(" + by + ")"
	}
	return s.selects()
}

// selects is CEL that tells whether both selectors match.
func (s *set) selects() string {
	pods, namespaces := s.Selectors()
	cel := policy.Matches(pods, "object")
	if namespaces != nil {
		cel += " && " + policy.Matches(namespaces, "namespaceObject")
	}
	return cel
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
