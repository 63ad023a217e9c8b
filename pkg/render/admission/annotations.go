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
