package split

import (
	"bytes"
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// compact is n as JSON on one line with sorted keys, "" for nil.
func compact(n *tree.Node, escape bool) string {
	if n == nil {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escape)
	if err := e.Encode(tree.Value(n)); err != nil {
		return "" // values of a tree always encode
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
