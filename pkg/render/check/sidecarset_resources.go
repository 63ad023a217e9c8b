package check

import (
	"regexp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func (k *setCheck) resourcesPolicy(path string, n *tree.Node, plainInit bool) {
	p := tree.Get(n, "resourcesPolicy")
	if p == nil {
		return
	}
	path += ".resourcesPolicy"
	if plainInit {
		k.fault(path, "set restartPolicy: Always, or remove it", "only native init containers may have a resourcesPolicy")
	}
	for _, list := range []string{"limits", "requests"} {
		if values := tree.Get(n, "resources", list); tree.IsMap(values) && len(values.Content) > 0 {
			k.fault(path, "remove one of the two", "resources.%s and resourcesPolicy exclude each other", list)
			break
		}
	}
	if mode := tree.StrAt(p, "targetContainersMode"); mode != "sum" && mode != "max" {
		k.fault(path+".targetContainersMode", "", "want sum or max, got %q", mode)
	}
	if r := tree.Get(p, "targetContainersNameRegex"); r != nil {
		if tree.Str(r) == "" {
			k.fault(path+".targetContainersNameRegex", "leave it out to mean every container", "must not be empty")
		} else if _, err := regexp.Compile(tree.Str(r)); err != nil {
			k.fault(path+".targetContainersNameRegex", "", "%v", err)
		}
	}
	k.expressions(path+".resourcesExpr", tree.Get(p, "resourcesExpr"))
}

func (k *setCheck) expressions(path string, n *tree.Node) {
	if tree.Get(n, "limits") == nil && tree.Get(n, "requests") == nil {
		k.fault(path, "", "at least one of limits and requests is required")
	}
	for _, list := range []string{"limits", "requests"} {
		for _, name := range []string{"cpu", "memory"} {
			text := tree.StrAt(n, list, name)
			if text == "" {
				continue
			}
			e, err := inject.ParseExpression(text, name)
			if err == nil {
				err = e.Check()
			}
			if err != nil {
				k.fault(path+"."+list+"."+name, "Kruise tries the expression with the number 1 for "+name, "%v", err)
			}
		}
	}
}
