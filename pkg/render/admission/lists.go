package admission

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
)

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

// pullSecrets writes the pod's, each once where CEL can tell, and the set's behind
// them (docs/kruise/sidecarset.md#pull-secrets).
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
