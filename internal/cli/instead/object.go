package instead

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// object is a type as it was written with a name, or with "" for all there are.
type object struct{ kind, name string }

func (o object) String() string {
	if o.name == "" {
		return o.kind
	}
	return o.kind + "/" + o.name
}

// split takes the arguments apart as kubectl does; ok is false where they are nothing
// that it would take. A native type without a name cannot stand beside names, so it is
// nothing either.
func split(args []string) (out []object, ok bool) {
	if len(args) == 0 {
		return nil, false
	}
	if strings.Contains(args[0], "/") {
		for _, arg := range args {
			kind, name, ok := strings.Cut(arg, "/")
			if !ok || kind == "" || name == "" {
				return nil, false
			}
			out = append(out, object{kind, name})
		}
		return out, true
	}
	names := args[1:]
	if len(names) == 0 {
		names = []string{""}
	}
	for kind := range strings.SplitSeq(args[0], ",") {
		_, ours := kruiseKind(kind)
		for _, name := range names {
			if name == "" && !ours {
				return nil, false
			}
			out = append(out, object{kind, name})
		}
	}
	return out, true
}

// kruiseKind is the kind of Kruise that a type means where there is no Kruise: a word that
// Kubernetes has too is its own, unless it has Kruise's group.
func kruiseKind(word string) (kind string, ok bool) {
	word, group, grouped := strings.Cut(strings.ToLower(word), ".")
	kind, ok = kubectl.KindOf(word)
	switch {
	case !ok || grouped && !strings.HasSuffix(group, kruise.Group) && !strings.HasSuffix(group, kruise.PolicyGroup):
		return "", false
	case !grouped && strings.TrimSuffix(word, "s") == strings.ToLower(kind) && (kind == kruise.KindStatefulSet || kind == kruise.KindDaemonSet):
		return "", false
	}
	return kind, true
}
