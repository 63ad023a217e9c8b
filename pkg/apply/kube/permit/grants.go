package permit

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Grants reports whether rules allow a need for every object of its kind: a rule for
// objects by their names does not.
func Grants(rules []rbacv1.PolicyRule, n Need) bool {
	covered, _ := validation.Covers(rules, []rbacv1.PolicyRule{
		{Verbs: []string{n.Verb}, APIGroups: []string{n.Group}, Resources: []string{n.Path()}},
	})
	return covered
}
