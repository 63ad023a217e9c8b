package admission

import (
	"fmt"
	"slices"
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
	if why := s.whyNeverInjected(); why != "" {
		return []policy.Named{{Name: why, Expression: "false"}}
	}
	return nil
}

// whyNeverInjected reports why a set goes into no pod at all, "" when it may.
func (s *set) whyNeverInjected() string {
	pods, _ := s.Selectors()
	switch {
	case s.Paused():
		return "injection-is-paused"
	case policy.Matches(pods, "object") == "false":
		return "selector-is-empty"
	}
	return ""
}

// superseded returns a CEL expression for whether a canary replaces s, "" without a canary.
func superseded(s *set, sets []*set) string {
	var canaries []string
	for _, other := range sets {
		if other.Base() == s.Name && other.whyNeverInjected() == "" {
			canaries = append(canaries, "("+other.selects()+")")
		}
	}
	return strings.Join(canaries, " || ")
}

// injectedExpression returns a CEL expression for whether s is injected into the pod.
func injectedExpression(s *set, sets []*set) string {
	if by := superseded(s, sets); by != "" {
		return s.selects() + " && !(" + by + ")"
	}
	return s.selects()
}

// selects returns a CEL expression for whether both selectors match.
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

// annotations writes those of patchPodMetadata and the bookkeeping
// (docs/kruise/sidecarset.md#pod-metadata, docs/kruise/sidecarset.md#hot-upgrade-injection and
// docs/kruise/sidecarset.md#annotations).
func (b *builder) annotations() {
	b.patch.Annotations()
	for _, p := range b.set.AnnotationPatches() {
		b.annotate(p)
	}
	b.patch.Annotate(kruise.SidecarSetInjectedListAnnotation, inserted(b.injectedSets(), b.set.Set)+`.join(",")`)
	tree.Each(tree.Get(b.alone, "metadata", "annotations"), func(key, value *tree.Node) {
		switch {
		case strings.HasPrefix(key.Value, kruise.SidecarSetVersionAnnotationPrefix), strings.HasPrefix(key.Value, kruise.SidecarSetVersionAltAnnotationPrefix):
			b.patch.Annotate(key.Value, policy.Quote(value.Value))
		case key.Value == kruise.SidecarSetWorkingHotUpgradeAnnotation:
			b.patch.Annotate(key.Value, b.working(value.Value))
		}
	})
}

// annotate writes one annotation of patchPodMetadata. Sets that may meet write the
// same one only with Retain; the first in order wins, whichever policy is called
// first. Unknown policies write nothing.
func (b *builder) annotate(p inject.AnnotationPatch) {
	op := policy.Op("add", policy.Quote(policy.Pointer("metadata", "annotations", p.Key)), policy.Quote(p.Value))
	switch p.Policy {
	case kruise.SidecarSetOverwritePatchPolicy:
		b.patch.Do(op)
	case kruise.SidecarSetRetainPatchPolicy:
		keepers := slices.Concat([]string{policy.Quote(p.Key) + " in " + b.podAnnotations()}, b.peers.retained[p.Key])
		b.patch.When("!("+strings.Join(keepers, ") && !(")+")", op)
	}
}

func (b *builder) podAnnotations() string {
	return b.variable("annotations", "object.metadata.?annotations.orValue({})")
}

// injectedSets are the sets that the pod lists as injected.
func (b *builder) injectedSets() string {
	return b.variable("injectedSets", fmt.Sprintf(`%s[?%s].orValue("").split(",").filter(s, s != "")`,
		b.podAnnotations(), policy.Quote(kruise.SidecarSetInjectedListAnnotation)))
}

// inserted is CEL for a sorted list of texts with one more, once.
func inserted(list, text string) string {
	q := policy.Quote(text)
	return fmt.Sprintf("(%s.filter(s, s < %s) + [%s] + %s.filter(s, s > %s))", list, q, q, list, q)
}

// pairPattern finds the members of a JSON object of plain texts.
const pairPattern = `"[^"\\]*":"[^"\\]*"`

// working adds the members of a JSON object of texts to that in the pod's
// annotation. CEL reads no JSON, but this much.
func (b *builder) working(own string) string {
	list := b.variable("working", fmt.Sprintf(`%s[?%s].orValue("").findAll(%s)`,
		b.podAnnotations(), policy.Quote(kruise.SidecarSetWorkingHotUpgradeAnnotation), policy.Quote(pairPattern)))
	for i, pair := range strings.Split(strings.Trim(own, "{}"), ",") {
		key, _, _ := strings.Cut(pair, ":")
		others := fmt.Sprintf("%s.filter(s, !s.startsWith(%s))", list, policy.Quote(key+":"))
		list = b.variable(fmt.Sprintf("working%d", i+1), inserted(others, pair))
	}
	return fmt.Sprintf(`"{" + %s.join(",") + "}"`, list)
}

// volumes appends the set's; the pod's volume of a name wins (docs/kruise/sidecarset.md#volumes).
func (b *builder) volumes() {
	list := tree.Items(tree.Get(b.alone, "spec", "volumes"))
	if len(list) == 0 {
		return
	}
	b.patch.List("volumes")
	names := b.variable("volumeNames", pod("volumes")+".map(v, v.name)")
	for _, v := range list {
		name := tree.StrAt(v, "name")
		b.patch.When("!("+policy.Quote(name)+" in "+names+")",
			policy.Op("add", `"/spec/volumes/-"`, policy.Literal(v)))
	}
}

// pullSecrets writes the pod's, each once if CEL can compare them, and the set's behind them
// (docs/kruise/sidecarset.md#pull-secrets).
func (b *builder) pullSecrets() {
	list := values(tree.Items(tree.Get(b.alone, "spec", "imagePullSecrets")), "name")
	if len(list) == 0 {
		return
	}
	own := pod("imagePullSecrets") + `.map(s, s.?name.orValue(""))`
	if b.lists {
		own += ".distinct()"
	}
	own = b.variable("pullSecrets", own)
	b.patch.Do(policy.Op("add", `"/spec/imagePullSecrets"`, fmt.Sprintf(
		`(%[1]s + %[2]s.filter(s, !(s in %[1]s))).map(s, {"name": s})`, own, policy.Strings(list))))
}
