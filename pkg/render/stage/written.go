package stage

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// harmless are the values that mean the same as leaving the field out.
var harmless = []string{"", "false", "0", "0%"}

// Written reports whether the dotted field of an object is given with a value that
// says something.
func Written(n *tree.Node, field string) bool {
	value := tree.Get(n, tree.Steps(field)...)
	return value != nil && (!tree.IsScalar(value) || !slices.Contains(harmless, value.Value))
}
