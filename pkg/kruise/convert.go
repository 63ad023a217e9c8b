package kruise

import (
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
	// Why says what becomes of it.
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
