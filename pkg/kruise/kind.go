package kruise

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// kindOf returns the kind and version of an object; the kind is nil when the
// object is not Kruise's. A version that the kind does not have is an error.
func kindOf(n *tree.Node) (k *descriptor, version string, err error) {
	group, version, ok := strings.Cut(tree.StrAt(tree.Root(n), "apiVersion"), "/")
	if !ok {
		return nil, "", nil
	}
	k = kinds[group+"/"+tree.StrAt(tree.Root(n), "kind")]
	if k == nil {
		return nil, "", nil
	}
	if !slices.Contains(k.Versions, version) {
		return nil, "", tree.Errorf(n, "apiVersion", "want "+group+"/"+strings.Join(k.Versions, " or "+group+"/"), "%s has no version %s", k.Kind, version)
	}
	return k, version, nil
}

// Written returns the path, in the version that the object is written in, of a
// field of its kind's newest version. Elsewhere, path comes back.
func Written(n *tree.Node, path string) string {
	k, version, err := kindOf(n)
	if err != nil || k == nil || version == k.Newest() {
		return path
	}
	return k.olderPath(path)
}

// older rewrites the field of an error that was found in the newest version.
func (k *descriptor) older(err error) error {
	var te *tree.Error
	if !errors.As(err, &te) {
		return err
	}
	out := *te
	out.Path = k.olderPath(te.Path)
	return &out
}

// olderPath is the path in the older version of a field of the newest.
func (k *descriptor) olderPath(path string) string {
	for _, f := range k.fields {
		if n, ok := f.(renamed); ok {
			if p, ok := n.names().olderPath(path); ok {
				return p
			}
		}
	}
	return path
}

// renamed is a row whose field has one name in each version.
type renamed interface{ names() moved }

func (m moved) names() moved    { return m }
func (i inverted) names() moved { return moved{older: i.older, newer: i.newer} }

// olderPath rewrites a path that leads to the row's field or into it.
func (m moved) olderPath(path string) (string, bool) {
	have, want := strings.Split(path, "."), steps(join(m.in, m.newer))
	if len(have) < len(want) {
		return "", false
	}
	for i, w := range want {
		if field, _, _ := strings.Cut(have[i], "["); field != strings.TrimRight(w, "[]{}") {
			return "", false
		}
	}
	last := have[len(want)-1]
	index := last[strings.IndexByte(last+"[", '['):]
	out := slices.Concat(have[:len(steps(m.in))], steps(m.older+index), have[len(want):])
	return strings.Join(out, "."), true
}
