package admission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
)

// annotations writes those of patchPodMetadata and the bookkeeping (semantics
// sidecarset 2.8, 2.10 and 2.11).
func (b *builder) annotations() {
	b.patch.Annotations()
	for _, p := range settled(b.set) {
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

// annotate writes one annotation of patchPodMetadata, unless a peer does that this
// set would come before or after: the first Retain and the last Overwrite win,
// whichever policy is called first.
func (b *builder) annotate(p inject.AnnotationPatch) {
	overwrites := p.Policy == kruise.SidecarSetOverwritePatchPolicy
	var conditions []string
	if !overwrites {
		conditions = append(conditions, fmt.Sprintf("!(%s in %s)", policy.Quote(p.Key), b.podAnnotations()))
	}
	for _, peer := range b.peers.patches {
		if peer.Key == p.Key && peer.Policy == p.Policy && peer.later == overwrites {
			conditions = append(conditions, "!("+peer.goes+")")
		}
	}
	op := policy.Op("add", policy.Quote(policy.Pointer("metadata", "annotations", p.Key)), policy.Quote(p.Value))
	if len(conditions) == 0 {
		b.patch.Do(op)
	} else {
		b.patch.When(strings.Join(conditions, " && "), op)
	}
}

// settled returns for each annotation what the entries of a set come to: the last
// Overwrite, else the first Retain. Unknown policies write nothing.
func settled(set *inject.Content) []inject.AnnotationPatch {
	var out []inject.AnnotationPatch
	for _, p := range set.AnnotationPatches() {
		i := slices.IndexFunc(out, func(o inject.AnnotationPatch) bool { return o.Key == p.Key })
		switch {
		case p.Policy != kruise.SidecarSetRetainPatchPolicy && p.Policy != kruise.SidecarSetOverwritePatchPolicy:
		case i < 0:
			out = append(out, p)
		case p.Policy == kruise.SidecarSetOverwritePatchPolicy:
			out[i] = p
		}
	}
	return out
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
