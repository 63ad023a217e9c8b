package set

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// containersOf are the containers of a pod spec, those of initialization behind the
// others.
func containersOf(spec map[string]any) []map[string]any {
	var out []map[string]any
	for _, field := range []string{"containers", "initContainers"} {
		list, _ := spec[field].([]any)
		for _, v := range list {
			if c, ok := v.(map[string]any); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func nameOf(container map[string]any) string {
	name, _ := container["name"].(string)
	return name
}

// matching are the containers of an object whose name matches a pattern with * in it.
// That there is none is an error.
func matching(u *unstructured.Unstructured, pattern string) ([]map[string]any, error) {
	all, err := specs(u)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	var names []string
	for _, spec := range all {
		for _, c := range containersOf(spec) {
			names = append(names, nameOf(c))
			if matches(pattern, nameOf(c)) {
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		return nil, &tree.Error{Msg: fmt.Sprintf("unable to find container named %q", pattern), Hint: "it has " + strings.Join(names, ", ")}
	}
	return out, nil
}

// matches reads a pattern as kubectl does: * stands for any text.
func matches(pattern, name string) bool {
	// Names of containers have no slashes; a bad pattern matches nothing.
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
