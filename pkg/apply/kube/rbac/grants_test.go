package rbac

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

func TestGrants_EveryObjectOfTheKind(t *testing.T) {
	patch := Need{Group: "apps.kruise.io", Resource: "clonesets", Verb: "patch"}
	scale := Need{Group: "apps", Resource: "statefulsets", Subresource: "scale", Verb: "update"}
	rule := func(verb, group, resource string, names ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}}
	}
	for name, c := range map[string]struct {
		rules []rbacv1.PolicyRule
		need  Need
		want  bool
	}{
		"nothing":               {nil, patch, false},
		"the very one":          {rule("patch", "apps.kruise.io", "clonesets"), patch, true},
		"all":                   {rule("*", "*", "*"), patch, true},
		"all of a subresource":  {rule("update", "*", "*/scale"), scale, true},
		"the subresource":       {rule("update", "apps", "statefulsets/scale"), scale, true},
		"the resource alone":    {rule("update", "apps", "statefulsets"), scale, false},
		"another verb":          {rule("get", "apps.kruise.io", "clonesets"), patch, false},
		"another group":         {rule("patch", "apps", "clonesets"), patch, false},
		"some objects":          {rule("patch", "apps.kruise.io", "clonesets", "web"), patch, false},
		"some objects, and all": {append(rule("patch", "apps.kruise.io", "clonesets", "web"), rule("patch", "*", "clonesets")...), patch, true},
	} {
		if got := Grants(c.rules, c.need); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
