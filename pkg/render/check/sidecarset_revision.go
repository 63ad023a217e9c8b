package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func (k *setCheck) revision() {
	const path = "spec.injectionStrategy.revision"
	n := tree.Get(k.spec, "injectionStrategy", "revision")
	if n == nil {
		return
	}
	if p := tree.StrAt(n, "policy"); p != "" && p != "Always" && p != "Partial" {
		k.fault(path+".policy", "", "want Always or Partial, got %q", p)
	}
	name, version := tree.StrAt(n, "revisionName"), tree.StrAt(n, "customVersion")
	if name == "" && version == "" {
		k.fault(path, "", "revisionName or customVersion is required")
		return
	}
	known := k.revisions()
	if inject.HasRevision(known, k.r.Name(), name, version) {
		return
	}
	// Without any revision of the set nothing is known of what is stored, which
	// matters only where it is to be injected.
	if !k.c.Expand(kruise.KindSidecarSet) && !inject.HasRevisions(known, k.r.Name()) {
		k.c.Findings.Add("sidecarset/revision-unknown", k.r, path, "")
		return
	}
	k.fault(path, "add the ControllerRevision of namespace kruise-system by --with or --live",
		"no stored revision with %s", wantedRevision(name, version))
}

// revisionsKey is the key of the revisions of SidecarSets.
type revisionsKey struct{}

// revisions are those that the facts hold, read once for all sets.
func (k *setCheck) revisions() []*inject.Revision {
	f := k.c.Facts
	return resource.Once(f, revisionsKey{}, func() (known []*inject.Revision) {
		for _, r := range f.All("apps", "ControllerRevision") {
			if rev := inject.ReadRevision(r.Node()); rev != nil {
				known = append(known, rev)
			}
		}
		return known
	})
}

func wantedRevision(name, version string) string {
	if name != "" {
		return "the name " + name
	}
	return "customVersion " + version
}
