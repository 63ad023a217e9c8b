package set

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// specs are the pod specs below an object. Of a SidecarSet it is the object's own,
// which has the containers of one and nothing else of it.
func specs(u *unstructured.Unstructured) ([]map[string]any, error) {
	group, kind := u.GroupVersionKind().Group, u.GetKind()
	if isSidecarSet(u) {
		return found(u, below(u.Object, "spec"))
	}
	paths := stage.TemplatePaths(group, kind)
	if len(paths) == 0 {
		return nil, &tree.Error{Msg: "has no pod template", Hint: without(u)}
	}
	var all []map[string]any
	for _, p := range paths {
		all = append(all, below(u.Object, strings.TrimPrefix(p+".spec", ".")))
	}
	return found(u, all...)
}

func isSidecarSet(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().Group == kruise.Group && u.GetKind() == kruise.KindSidecarSet
}

func found(u *unstructured.Unstructured, all ...map[string]any) ([]map[string]any, error) {
	var out []map[string]any
	for _, spec := range all {
		if spec != nil {
			out = append(out, spec)
		}
	}
	if len(out) == 0 {
		return nil, &tree.Error{Path: "spec", Msg: "the " + u.GetKind() + " holds no pod template"}
	}
	return out, nil
}

// without advises on an object that has no pod template.
func without(u *unstructured.Unstructured) string {
	ref := below(u.Object, "spec.workloadRef")
	if ref == nil {
		ref = below(u.Object, "spec.objectRef.workloadRef")
	}
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	if kind == "" || name == "" {
		return "name a workload, such as cloneset/web"
	}
	group, _ := ref["apiVersion"].(string)
	typed := strings.ToLower(kind)
	if group = path.Dir(group); group != "." {
		typed += "." + group
	}
	return "name its workload: " + typed + "/" + name
}

// below is the map at a dotted path, nil where there is none.
func below(o map[string]any, at string) map[string]any {
	for key := range strings.SplitSeq(at, ".") {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// ensure is the map in a field, which is made where there is none.
func ensure(o map[string]any, field string) map[string]any {
	m, ok := o[field].(map[string]any)
	if !ok {
		m = map[string]any{}
		o[field] = m
	}
	return m
}
