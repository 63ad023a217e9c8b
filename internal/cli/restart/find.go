package restart

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// find sorts the arguments: one workload, or pods by the workloads that they belong
// to, in the order in which they were named.
func (o *options) find(ctx context.Context, args []string) ([]work, error) {
	var pods []string
	for _, arg := range args {
		pod, ok := resourcearg.ParsePod(arg)
		switch {
		case !strings.Contains(arg, "/"):
			pods = append(pods, arg)
		case ok:
			pods = append(pods, pod.Name)
		case len(args) > 1:
			return nil, command.Usagef("restart one workload at a time, or name pods", "%s cannot be combined with other arguments", arg)
		default:
			n, err := resourcearg.Parse(arg)
			return []work{{name: n}}, err
		}
	}
	return o.owners(ctx, pods)
}

func (o *options) owners(ctx context.Context, pods []string) ([]work, error) {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	var out []work
	for _, pod := range pods {
		name, err := ownerOf(ctx, client, namespace, pod)
		if err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && out[n-1].name.String() == name.String() {
			out[n-1].pods = append(out[n-1].pods, pod)
			continue
		}
		out = append(out, work{name, []string{pod}})
	}
	return out, nil
}

// ownerOf is the workload that a pod belongs to: of a ReplicaSet that a Deployment
// owns it is the Deployment. An unmanaged pod, or one of a Job, stands for itself.
func ownerOf(ctx context.Context, client dynamic.Interface, namespace, pod string) (resourcearg.Name, error) {
	o, err := get(ctx, client, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, namespace, pod)
	if err != nil {
		return resourcearg.Name{}, err
	}
	ref := metav1.GetControllerOf(o)
	if ref != nil && ref.Kind == kruise.KindReplicaSet {
		set, err := get(ctx, client, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, namespace, ref.Name)
		if err != nil {
			return resourcearg.Name{}, err
		}
		if above := metav1.GetControllerOf(set); above != nil {
			ref = above
		}
	}
	if ref != nil {
		group, _ := schema.ParseGroupVersion(ref.APIVersion)
		if name, err := resourcearg.Parse(strings.ToLower(ref.Kind) + "." + group.Group + "/" + ref.Name); err == nil {
			return name, nil
		}
	}
	return resourcearg.NameOf(o.GroupVersionKind().GroupKind(), pod), nil
}

func get(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	o, err := client.Resource(r).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, &resource.Error{Err: fmt.Errorf("%s/%s is not in namespace %s", strings.TrimSuffix(r.Resource, "s"), name, namespace), Hint: "check the name and -n; a workload is TYPE/NAME"}
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return o, nil
}
