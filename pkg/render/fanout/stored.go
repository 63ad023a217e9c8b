package fanout

import (
	"encoding/base64"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// stored returns the template as the API server would store it: stringData
// moves into data and wins there, a missing type of a Secret is Opaque. The
// bytes of a Secret are the same in both forms; writing data lets an apply
// remove keys, as Kruise does, which stringData cannot. All values that did not
// change are the template's own nodes. changed reports whether anything did.
func stored(template *tree.Node) (body *tree.Node, changed bool) {
	if tree.StrAt(template, "kind") != "Secret" {
		return template, false
	}
	if tree.StrAt(template, "type") == "" {
		body = tree.Shallow(template)
		tree.Set(body, "type", tree.String("Opaque"))
	}
	if !tree.Has(template, "stringData") {
		if body == nil {
			return template, false
		}
		return body, true
	}
	if body == nil {
		body = tree.Shallow(template)
	}
	data := tree.Map()
	if old := tree.Get(body, "data"); tree.IsMap(old) {
		data = tree.Shallow(old)
	}
	tree.Each(tree.Get(body, "stringData"), func(k, v *tree.Node) {
		tree.Set(data, k.Value, tree.String(base64.StdEncoding.EncodeToString([]byte(tree.Str(v)))))
	})
	tree.Replace(body, "stringData", "data", data)
	return body, true
}
