package complete

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/pods"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// containers offers the containers of what --pod or the first argument names.
func containers(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		u := object(f, c, args)
		if u == nil {
			return nil, nothing
		}
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return prefixed(before, containersIn(u.Object)), nothing
	}
}

// images offers the containers of the workload that a plan is made for, each with the sign
// behind which its new image follows.
func images(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if c.Flags().Lookup("pause-after") == nil || strings.Contains(typed, "=") {
			return nil, nothing
		}
		u := object(f, c, args)
		if u == nil {
			return nil, nothing
		}
		var out []string
		for _, name := range containersIn(u.Object) {
			out = append(out, name+"=")
		}
		return out, typing
	}
}

// object is what --pod or the arguments name, nil where that cannot be read.
func object(f *factory.Factory, c *cobra.Command, args []string) *unstructured.Unstructured {
	name := ""
	if pod := c.Flags().Lookup("pod"); pod != nil {
		name = pod.Value.String()
	} else if len(args) > 0 {
		name = args[0]
		if len(args) > 1 && !strings.Contains(name, "/") && !strings.Contains(args[1], "/") && c.Name() != "restart" {
			name += "/" + args[1] // TYPE NAME
		}
	}
	if name == "" {
		return nil
	}
	namespace, _, err := kubectl.Factory(f).ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil
	}
	finder := pods.Finder{Factory: kubectl.Factory(f), Namespace: namespace}
	u, err := finder.Named(c.Context(), name)
	if err != nil {
		return nil // what cannot be read is not offered
	}
	return u
}

// containersIn are the names of all containers below a value, sorted, each once.
func containersIn(v any) []string {
	found := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, below := range v {
				if key == "containers" || key == "initContainers" || key == "ephemeralContainers" {
					addNames(found, below)
				}
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(v)
	return slices.Sorted(maps.Keys(found))
}

func addNames(found map[string]bool, list any) {
	items, _ := list.([]any)
	for _, item := range items {
		c, _ := item.(map[string]any)
		name, _ := c["name"].(string)
		if _, ok := c["image"]; ok && name != "" {
			found[name] = true
		}
	}
}

// revisions offers the stored revisions of the workload that is named, the newest first.
func revisions(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		u := object(f, c, args)
		if u == nil {
			return nil, nothing
		}
		client, err := kubectl.Factory(f).DynamicClient()
		if err != nil {
			return nil, nothing
		}
		kind := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
		if u.GetKind() == kruise.KindDeployment {
			kind.Resource = "replicasets"
		}
		list, err := client.Resource(kind).Namespace(u.GetNamespace()).List(c.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, nothing
		}
		return numbers(u, list.Items), nothing | cobra.ShellCompDirectiveKeepOrder
	}
}

// numbers are those of the revisions that an object owns, with their names.
func numbers(owner *unstructured.Unstructured, list []unstructured.Unstructured) []string {
	names := map[int64]string{}
	for i := range list {
		r := &list[i]
		n, ok, _ := unstructured.NestedInt64(r.Object, "revision")
		if !ok {
			// What is not a number is nobody's revision.
			n, _ = strconv.ParseInt(r.GetAnnotations()[cluster.DeploymentRevisionAnnotation], 10, 64)
		}
		if metav1.IsControlledBy(r, owner) && n > 0 {
			names[n] = r.GetName()
		}
	}
	var out []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(names))) {
		out = append(out, strconv.FormatInt(n, 10)+"\t"+names[n])
	}
	return out
}

// nodeLabels offers KEY=VALUE of labels that nodes have.
func nodeLabels(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		client, err := kubectl.Factory(f).KubernetesClientSet()
		if err != nil {
			return nil, nothing
		}
		list, err := client.CoreV1().Nodes().List(c.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, nothing
		}
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return prefixed(before, labelsOf(list.Items)), nothing
	}
}

func labelsOf(nodes []corev1.Node) []string {
	found := map[string]bool{}
	for i := range nodes {
		for k, v := range nodes[i].Labels {
			found[k+"="+v] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
