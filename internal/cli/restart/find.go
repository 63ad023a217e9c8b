package restart

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// find sorts the arguments: one workload, or pods by the workloads that they belong
// to, in the order in which they were named; with -l, what it matches.
func (o *options) find(ctx context.Context, args []string) ([]work, error) {
	if o.selector != "" {
		return o.selected(ctx, strings.Join(args, ","))
	}
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

func (o *options) owners(ctx context.Context, names []string) ([]work, error) {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	list := make([]*unstructured.Unstructured, len(names))
	for i, name := range names {
		if list[i], err = get(ctx, client, podResource, namespace, name); err != nil {
			return nil, err
		}
	}
	return byOwner(ctx, client, list)
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// selected finds what the label selector matches: pods, or workloads of the types, "" for all
// that have pods.
func (o *options) selected(ctx context.Context, types string) ([]work, error) {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	var out []work
	kind := cmp.Or(types, "workload")
	if _, ok := resourcearg.ParsePod(types + "/NAME"); ok {
		kind = "pod"
		out, err = selectedPods(ctx, client, namespace, o.selector)
	} else {
		out, err = selectedWorkloads(ctx, client, types, namespace, o.selector)
	}
	if err == nil && len(out) == 0 {
		err = &resource.Error{Err: fmt.Errorf("no %s in namespace %s matches %q", kind, namespace, o.selector), Hint: "check -l and -n"}
	}
	return out, err
}

func selectedPods(ctx context.Context, client dynamic.Interface, namespace, selector string) ([]work, error) {
	list, err := clusterread.List(ctx, client, podResource, namespace, selector)
	if err != nil {
		return nil, err
	}
	pods := make([]*unstructured.Unstructured, len(list))
	for i := range list {
		pods[i] = &list[i]
	}
	return byOwner(ctx, client, pods)
}

func selectedWorkloads(ctx context.Context, client dynamic.Interface, types, namespace, selector string) ([]work, error) {
	kinds, err := resourcearg.ParseKinds(types)
	if err != nil {
		return nil, err
	}
	if types == "" { // a SidecarSet has no pods of its own
		kinds = slices.DeleteFunc(kinds, func(k schema.GroupKind) bool { return k.Kind == kruise.KindSidecarSet })
	}
	names, err := clusterread.SelectWorkloads(ctx, client, kinds, namespace, selector)
	if err != nil {
		return nil, err
	}
	out := make([]work, len(names))
	for i, n := range names {
		out[i] = work{name: n}
	}
	return out, nil
}

// byOwner sorts pods by the workloads that they belong to, in the order in which they come.
func byOwner(ctx context.Context, client dynamic.Interface, pods []*unstructured.Unstructured) ([]work, error) {
	var out []work
	at := map[string]int{}
	for _, pod := range pods {
		name, err := ownerOf(ctx, client, pod)
		if err != nil {
			return nil, err
		}
		i, ok := at[name.String()]
		if !ok {
			i = len(out)
			at[name.String()], out = i, append(out, work{name: name})
		}
		out[i].pods = append(out[i].pods, pod.GetName())
	}
	return out, nil
}

// ownerOf is the workload that a pod belongs to: of a ReplicaSet that a Deployment
// owns it is the Deployment. An unmanaged pod, or one of a Job, stands for itself.
func ownerOf(ctx context.Context, client dynamic.Interface, pod *unstructured.Unstructured) (resourcearg.Name, error) {
	ref, namespace := metav1.GetControllerOf(pod), pod.GetNamespace()
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
	return resourcearg.NameOf(pod.GroupVersionKind().GroupKind(), pod.GetName()), nil
}

func get(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	o, err := client.Resource(r).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, &resource.Error{Err: apierrors.NewNotFound(r.GroupResource(), name), Hint: "check the name and -n; a workload is TYPE/NAME"}
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return o, nil
}
