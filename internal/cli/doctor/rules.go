package doctor

import (
	"cmp"
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rulesReader are what an account may do in a namespace.
type rulesReader struct {
	list []rbacv1.PolicyRule
	// whole says that there are no others: what they do not allow is denied.
	whole bool
}

// unusedNamespace is no name that a namespace can have: no rules are bound in it, but for those
// that hold in the whole cluster, which are then all there are.
const unusedNamespace = "no.namespace"

// rulesReader asks for those of a namespace, or of the whole cluster for "". A server whose
// authorizers cannot list their rules says so: a webhook, for instance.
func (p *examined) rules(ctx context.Context, namespace string) rulesReader {
	answer, err := p.core.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: cmp.Or(namespace, unusedNamespace)},
	}, metav1.CreateOptions{})
	if err != nil {
		return rulesReader{}
	}
	out := rulesReader{whole: !answer.Status.Incomplete && answer.Status.EvaluationError == ""}
	for _, r := range answer.Status.ResourceRules {
		out.list = append(out.list, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	return out
}
