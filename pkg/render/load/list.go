package load

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// objects returns the object root, or what the list root holds, lists in it
// included. Elements of lists have no bytes of their own.
func objects(root *tree.Node, raw []byte, origin resource.Origin) ([]*resource.Resource, error) {
	r := resource.Parsed(root, raw, origin)
	if !isList(root) {
		if err := check(r); err != nil {
			return nil, err
		}
		return []*resource.Resource{r}, nil
	}
	if strings.HasPrefix(r.APIVersion(), "config.kubernetes.io/") {
		return nil, r.Fault("", "hand it to the fn command on standard input", "a %s is what functions read and write", r.Kind())
	}
	return elements(r)
}

// isList follows the convention of the API: a kind that ends in List and has
// items. A List may lack them.
func isList(root *tree.Node) bool {
	kind := tree.StrAt(root, "kind")
	items := tree.Get(root, "items")
	return strings.HasSuffix(kind, "List") && (tree.IsSeq(items) || items == nil && kind == "List")
}

func elements(list *resource.Resource) ([]*resource.Resource, error) {
	var all []*resource.Resource
	var errs resource.Errors
	for i, item := range tree.Items(tree.Get(list.Node(), "items")) {
		if !tree.IsMap(item) {
			errs.Add(list.Fault(indexed(i), "", "is no object"))
			continue
		}
		inherit(item, list)
		origin := list.Origin
		origin.Line = item.Line
		rs, err := objects(item, nil, origin)
		all = append(all, rs...)
		errs.Add(err)
	}
	return all, errs.Err()
}

// inherit fills in what elements of typed lists, such as a DeploymentList that
// an API server sent, leave out.
func inherit(item *tree.Node, list *resource.Resource) {
	kind := strings.TrimSuffix(list.Kind(), "List")
	if kind == "" || tree.Has(item, "kind") || tree.Has(item, "apiVersion") {
		return
	}
	head := tree.Map("apiVersion", list.APIVersion(), "kind", kind)
	item.Content = append(head.Content, item.Content...)
}
