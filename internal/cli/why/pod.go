package why

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// pod answers for one pod: its workload first, its sidecars after.
func (o *options) pod(ctx context.Context, namespace, name string) (view.Diagnosed, error) {
	p, err := o.core.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return view.Diagnosed{}, &resource.Error{
			Err: fmt.Errorf("pod %s is not in namespace %s", name, namespace), Hint: "check the name and -n; a workload is named TYPE/NAME, for instance cloneset/web",
		}
	case err != nil:
		return view.Diagnosed{}, fmt.Errorf("cannot read pod %s: %w", name, err)
	}
	read := cluster.ReadPod(p)
	d := diagnose.Lone(read)
	if owner, ok := o.owner(ctx, p); ok {
		q, err := o.question(ctx, owner, namespace)
		if err != nil {
			return view.Diagnosed{}, err
		}
		d = diagnose.Pod(q, name)
	}
	if d.Sidecars, err = o.sidecars(ctx, read); err != nil {
		return view.Diagnosed{}, err
	}
	return view.Diagnosed{Diagnosis: d, Logs: o.logs(ctx, d, []*cluster.Pod{read})}, nil
}

// owner finds the workload that a pod belongs to: the Deployment of its ReplicaSet,
// and the Kruise workload that a native one stands for.
func (o *options) owner(ctx context.Context, p *corev1.Pod) (resourcearg.Name, bool) {
	ref := metav1.GetControllerOf(p)
	if ref != nil && ref.Kind == kruise.KindReplicaSet {
		if rs, err := o.core.AppsV1().ReplicaSets(p.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil && metav1.GetControllerOf(rs) != nil {
			ref = metav1.GetControllerOf(rs)
		}
	}
	if ref == nil {
		return resourcearg.Name{}, false
	}
	if name, ok := source(p.Labels[kruise.SourceLabel]); ok {
		return name, true
	}
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	name, err := resourcearg.Parse(strings.ToLower(ref.Kind) + "." + group + "/" + ref.Name)
	return name, err == nil
}

// source reads the label that rendering leaves: KIND.NAME, unless it was too long.
func source(label string) (resourcearg.Name, bool) {
	kind, name, ok := strings.Cut(label, ".")
	if !ok || kruise.SourceValue(kind, name) != label {
		return resourcearg.Name{}, false
	}
	out, err := resourcearg.Parse(kind + "/" + name)
	return out, err == nil
}
