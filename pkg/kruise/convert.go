package kruise

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Loss is a field that has no place in the version written, or that the
// version read does not have.
type Loss struct {
	// Path is the field in the version that was read, such as
	// spec.reserveOrdinals.
	Path string
	// Why is what becomes of it.
	Why string
}

// ToHub returns the object in its kind's newest version, and what it loses on
// the way. The result may share subtrees with n: copy before editing. n comes
// back itself when it is in the newest version, and when it is no object of
// Kruise. A version that Kruise does not have is a *tree.Error.
func ToHub(n *tree.Node) (hub *tree.Node, lost []Loss, err error) {
	k, version, err := kindOf(n)
	if err != nil || k == nil {
		return n, nil, err
	}
	c := convert(n, k, version, k.Newest())
	return c.root, c.lost, c.err
}

// FromHub returns the object, which may be in any version of its kind, in
// this version (such as v1alpha1), and the fields that have no place in it.
// The result may share subtrees with n: copy before editing.
func FromHub(n *tree.Node, version string) (out *tree.Node, lost []Loss, err error) {
	k, from, err := kindOf(n)
	if err != nil {
		return n, nil, err
	}
	if k == nil {
		return n, nil, tree.Errorf(n, "apiVersion", "", "%s %s is not a kind of Kruise", tree.StrAt(n, "apiVersion"), tree.StrAt(n, "kind"))
	}
	if !slices.Contains(k.Versions, version) {
		return n, nil, tree.Errorf(n, "apiVersion", "want "+strings.Join(k.Versions, " or "), "%s has no version %s", k.Kind, version)
	}
	c := convert(n, k, from, version)
	return c.root, c.lost, c.err
}

// Decode reads the object, in whichever version, into its typed struct.
// Unknown fields are returned as paths, in the version that n is written in;
// wrong types are a *tree.Error.
func Decode(n *tree.Node, into any) (unknown []string, err error) {
	k, version, err := kindOf(n)
	if err != nil {
		return nil, err
	}
	if k == nil || version == k.Newest() {
		return tree.Decode(n, into)
	}
	c := newConversion(n, k.Newest())
	c.deciding = true
	c.run(k)
	unknown, err = tree.Decode(c.root, into)
	if err != nil {
		return nil, k.older(err)
	}
	for i, path := range unknown {
		unknown[i] = k.olderPath(path)
	}
	return append(unknown, c.unknown...), nil
}

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
