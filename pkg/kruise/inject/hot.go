package inject

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// hotPair makes the two containers of a HotUpgrade sidecar: NAME-1 runs the
// image, NAME-2 waits with the empty one (docs/kruise/sidecarset.md#hot-upgrade-injection).
func hotPair(s *sidecar, base *tree.Node, empty string) []variant {
	pair := make([]variant, 2)
	for i, suffix := range []string{"-1", "-2"} {
		name := s.name + suffix
		v := variant{name: name, versions: []*tree.Node{
			versionEnv(kruise.SidecarSetVersionEnv, kruise.SidecarSetVersionAnnotationPrefix+name),
			versionEnv(kruise.SidecarSetVersionAltEnv, kruise.SidecarSetVersionAltAnnotationPrefix+name),
		}}
		v.node = tree.Shallow(base)
		tree.Set(v.node, "name", tree.String(name))
		tree.Set(v.node, "env", tree.Seq(joined(s.env, v.versions)...))
		pair[i] = v
	}
	image := tree.StrAt(base, "image")
	waiting := pair[1].node
	tree.Set(waiting, "image", tree.String(empty))
	if policy := pullPolicy(image); !tree.Has(base, "imagePullPolicy") && policy != pullPolicy(empty) {
		// The webhook copies a container whose policy the real image has set.
		tree.InsertAfter(waiting, "image", "imagePullPolicy", tree.String(policy))
	}
	return pair
}

func versionEnv(name, annotation string) *tree.Node {
	path := "metadata.annotations['" + annotation + "']"
	return tree.Map("name", name, "valueFrom", tree.Map("fieldRef", tree.Map("fieldPath", path)))
}

// annotateHot writes the five annotations of a hot-upgrade pair; working gains
// the sidecar's entry.
func (in *injection) annotateHot(s *sidecar, working map[string]string) {
	first, second := s.variants[0].name, s.variants[1].name
	in.annotate(kruise.SidecarSetVersionAnnotationPrefix+first, "1")
	in.annotate(kruise.SidecarSetVersionAltAnnotationPrefix+first, "0")
	in.annotate(kruise.SidecarSetVersionAnnotationPrefix+second, "0")
	in.annotate(kruise.SidecarSetVersionAltAnnotationPrefix+second, "1")
	working[s.name] = first
}

// pullPolicy is the imagePullPolicy that Kubernetes gives a container without
// one: Always for the tag latest or neither tag nor digest, else IfNotPresent.
func pullPolicy(image string) string {
	rest, _, digest := strings.Cut(image, "@")
	last := rest[strings.LastIndexByte(rest, '/')+1:]
	_, tag, tagged := strings.Cut(last, ":")
	if tag == "latest" || !tagged && !digest {
		return "Always"
	}
	return "IfNotPresent"
}
