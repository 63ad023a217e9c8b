package instead

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	replicaSets  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	statefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	daemonSets   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	jobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	cronJobs     = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}
	budgets      = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
)

// rendered are what rendering makes of each kind (docs/fidelity.md): what of it runs, or
// guards what runs.
var rendered = map[string][]schema.GroupVersionResource{
	kruise.KindCloneSet:             {deployments, replicaSets, statefulSets},
	kruise.KindStatefulSet:          {statefulSets},
	kruise.KindDaemonSet:            {daemonSets},
	kruise.KindUnitedDeployment:     {deployments, replicaSets, statefulSets},
	kruise.KindBroadcastJob:         {jobs, daemonSets},
	kruise.KindAdvancedCronJob:      {cronJobs},
	kruise.KindImagePullJob:         {jobs},
	kruise.KindImageListPullJob:     {jobs},
	kruise.KindPodUnavailableBudget: {budgets},
}

// looker looks for what was rendered.
type looker struct {
	ctx       context.Context //nolint:containedctx // it lives for one call
	client    dynamic.Interface
	namespace string
}

func (v Verb) looker(ctx context.Context) (looker, error) {
	client, namespace, err := v.Factory.InNamespace()
	return looker{ctx, client, namespace}, err
}

// standing are the objects that stand for one of Kruise, or for all of its kind, as
// TYPE/NAME in the order of their types and names.
func (l looker) standing(kind, name string) ([]string, error) {
	selector := kruise.SourceLabel
	if name != "" {
		selector += "=" + kruise.SourceValue(kind, name)
	}
	var out []string
	for _, r := range rendered[kind] {
		list, err := l.client.Resource(r).Namespace(l.namespace).List(l.ctx, metav1.ListOptions{LabelSelector: selector})
		switch {
		case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("cannot look for what was rendered for %s: %w", strings.ToLower(kind)+"/"+name, err)
		}
		for i := range list.Items {
			if u := &list.Items[i]; madeOf(u, kind) {
				out = append(out, strings.TrimSuffix(r.Resource, "s")+"."+r.Group+"/"+u.GetName())
			}
		}
	}
	return slices.Compact(out), nil
}

// madeOf reports whether an object itself was rendered from a kind: what a Deployment
// makes has its labels, too.
func madeOf(u *unstructured.Unstructured, kind string) bool {
	return metav1.GetControllerOfNoCopy(u) == nil && strings.HasPrefix(u.GetLabels()[kruise.SourceLabel], strings.ToLower(kind)+".")
}
