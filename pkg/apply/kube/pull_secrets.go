package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// pullSecrets are the names of a pod's pull secrets: those of the template, or of the
// service account as it was when the pod was made.
func pullSecrets(p *corev1.Pod) []string {
	var out []string
	for _, s := range p.Spec.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out
}

// secretsOf are the names of the pull secrets of the workload's pods, and of those to
// come.
func (c *Cluster) secretsOf(w *cluster.Workload) ([]string, error) {
	pods, err := c.own(w)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, p := range pods {
		for _, name := range p.secrets {
			names[name] = true
		}
	}
	coming, err := TemplateSecrets(c.ctx, c.core, w.Namespace, w.Template)
	if err != nil {
		c.warn("%v: images are pulled without", err)
	}
	for _, name := range coming {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// TemplateSecrets are the names of the pull secrets that a pod of a template gets in a
// namespace: its own, or else those of its service account. A nil template is a pod
// that says nothing. With an error, what is known without the service account is
// returned.
func TemplateSecrets(ctx context.Context, client kubernetes.Interface, namespace string, template map[string]any) ([]string, error) {
	spec := tree.Get(tree.FromValue(template), "spec")
	var out []string
	for _, s := range tree.Items(tree.Get(spec, "imagePullSecrets")) {
		out = append(out, tree.StrAt(s, "name"))
	}
	if len(out) > 0 {
		return out, nil
	}
	name := cmp.Or(tree.StrAt(spec, "serviceAccountName"), tree.StrAt(spec, "serviceAccount"), "default")
	account, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the pull secrets of service account %s: %w", name, err)
	}
	for _, s := range account.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out, nil
}
