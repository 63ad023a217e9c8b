package inject

import (
	"errors"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// containerFields is the order in which Kubernetes prints a container's
// fields, as far as injection adds any.
var containerFields = []string{
	"name", "image", "command", "args", "workingDir", "ports", "envFrom", "env",
	"resources", "volumeMounts", "volumeDevices",
}

// setField sets field of the container n; a new field goes behind the nearest of
// those that Kubernetes prints before it.
func setField(n *tree.Node, field string, v *tree.Node) {
	before := containerFields[:slices.Index(containerFields, field)]
	for _, after := range slices.Backward(before) {
		if tree.Has(n, after) {
			tree.InsertAfter(n, after, field, v)
			return
		}
	}
	tree.Set(n, field, v)
}

// withoutComments returns a copy without comments: a SidecarSet's remarks are for its
// author, and would be repeated in every template. The copy itself is in block
// style, so that what is added to it reads well.
func withoutComments(n *tree.Node) *tree.Node {
	c := tree.Clone(n)
	uncomment(c)
	return block(c)
}

func uncomment(n *tree.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, child := range n.Content {
		uncomment(child)
	}
}

// block takes the flow style ({a: b}) from one level of a tree that the caller
// owns.
func block(n *tree.Node) *tree.Node {
	n.Style &^= yaml.FlowStyle
	return n
}

// prefixPath puts the path of a fault below field of root.
func prefixPath(root *tree.Node, field string, err error) error {
	var e *tree.Error
	if !errors.As(err, &e) {
		return tree.Errorf(root, field, "", "%v", err)
	}
	path := field
	switch {
	case e.Path == "":
	case e.Path[0] == '[' || field == "":
		path += e.Path
	default:
		path += "." + e.Path
	}
	return tree.Errorf(root, path, e.Hint, "%s", e.Msg)
}

// indexByName returns the index of the elements of a list by their name; the last
// one wins.
func indexByName(list []*tree.Node) map[string]int {
	at := make(map[string]int, len(list))
	for i, n := range list {
		at[tree.StrAt(n, "name")] = i
	}
	return at
}

// inSpec makes a fault's path start at the object; it keeps the line.
func inSpec(err error) error {
	var e *tree.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Path = "spec." + e.Path
	return &out
}
