package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// ofCluster are the fields of metadata that belong to the object in the
// cluster that a live export came from.
var ofCluster = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
	"managedFields", "resourceVersion", "selfLink", "uid",
}

// ofOthers are what others hung on the object: their controllers know it, not
// what it becomes.
var ofOthers = []string{"finalizers", "ownerReferences"}

// ofTools are annotations that tools and controllers keep about the very object:
// as kubectl last applied it, which on another kind would make kubectl apply
// remove fields, and the revisions of Kubernetes' own controllers.
var ofTools = []string{
	"kubectl.kubernetes.io/last-applied-configuration",
	"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation",
}

// Retype returns an object of another kind in place of n, whose metadata and spec
// are what the functions make of n's. Keys of the input keep their order
// and comments; the status goes.
func Retype(n *tree.Node, apiVersion, kind string, metadata, spec func(*tree.Node) *tree.Node) *tree.Node {
	out := tree.Map()
	tree.Each(n, func(k, v *tree.Node) {
		switch k.Value {
		case "apiVersion":
			v = tree.String(apiVersion)
		case "kind":
			v = tree.String(kind)
		case "metadata":
			v = metadata(v)
		case "spec":
			v = spec(v)
		case "status":
			return
		}
		out.Content = append(out.Content, k, v)
	})
	out.Style, out.HeadComment, out.FootComment = n.Style, n.HeadComment, n.FootComment
	return out
}

// Fields returns a copy of the mapping spec with each field as keep returns it, nil for one that
// is dropped. A key may be renamed and keeps its comments.
func Fields(spec *tree.Node, keep func(name string, v *tree.Node) (newName string, value *tree.Node)) *tree.Node {
	out := tree.Shallow(spec)
	out.Content = nil
	tree.Each(spec, func(k, v *tree.Node) {
		name, value := keep(k.Value, v)
		if value == nil {
			return
		}
		if name != k.Value {
			k = renamed(k, name)
		}
		out.Content = append(out.Content, k, value)
	})
	return out
}

// renamed returns a key node with another name and its comments.
func renamed(key *tree.Node, name string) *tree.Node {
	k := *key
	k.Value = name
	return &k
}

// Metadata returns a copy of an object's metadata for one of another kind:
// without what belongs to the object in the cluster, and what others hung on it.
func Metadata(source *tree.Node) *tree.Node {
	m := WithoutServerFields(source)
	for _, key := range ofOthers {
		tree.Delete(m, key)
	}
	return m
}

// WithoutServerFields returns a copy of an object's metadata as it would be in a manifest:
// without what only a live export has.
func WithoutServerFields(source *tree.Node) *tree.Node {
	m := Block(source)
	for _, key := range ofCluster {
		tree.Delete(m, key)
	}
	if !tree.IsMap(tree.Get(m, "annotations")) {
		return m
	}
	annotations := tree.Shallow(tree.Get(m, "annotations"))
	for _, key := range ofTools {
		tree.Delete(annotations, key)
	}
	if len(annotations.Content) == 0 {
		tree.Delete(m, "annotations")
		return m
	}
	tree.Set(m, "annotations", annotations)
	return m
}

// Block returns a copy of one level of a mapping, to be written key by key
// even where it was on one line: what is added to it is long.
func Block(n *tree.Node) *tree.Node {
	c := tree.Shallow(n)
	c.Style &^= yaml.FlowStyle
	return c
}

// hashLength is how much of a digest a shortened name ends in.
const hashLength = 8

// PieceName returns the name of one of the objects that a Kruise object becomes:
// OWNER-PIECE where that is legal, else its beginning with a hash of the whole.
// limit is the longest name; hostnames forbids dots.
func PieceName(owner, piece string, limit int, hostnames bool) string {
	whole := owner + "-" + piece
	legal := whole
	if hostnames {
		legal = strings.ReplaceAll(whole, ".", "-")
	}
	if legal == whole && len(whole) <= limit {
		return whole
	}
	sum := sha256.Sum256([]byte(owner + "\x00" + piece))
	keep := min(len(legal), limit-hashLength-1)
	return strings.TrimRight(legal[:keep], "-.") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// defaultValues are the values that mean the same as leaving the field out.
var defaultValues = []string{"", "false", "0", "0%"}

// Written reports whether the dotted field of an object has a value other than the default.
func Written(n *tree.Node, field string) bool {
	value := tree.Get(n, tree.Steps(field)...)
	return value != nil && (!tree.IsScalar(value) || !slices.Contains(defaultValues, value.Value))
}
