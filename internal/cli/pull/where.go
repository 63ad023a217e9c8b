package pull

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// where finds the nodes, and the secrets of pods.
func (o *options) where(ctx context.Context) (kube.ImagePull, error) {
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return kube.ImagePull{}, err
	}
	p := kube.ImagePull{Image: o.image, Namespace: namespace, Secrets: o.secrets, Parallel: o.parallel, HelperImage: o.helper}
	if o.name != nil {
		err = o.ofPods(ctx, &p)
	} else if p.Nodes, err = o.byLabels(ctx); err == nil {
		err = o.addSecrets(ctx, &p, nil)
	}
	if err == nil && len(p.Nodes) == 0 {
		err = &resource.Error{Err: fmt.Errorf("there is no node to pull %s on", o.image), Hint: "see 'kubectl get nodes', or 'kubectl get pods -o wide' of the workload"}
	}
	return p, err
}

// ofPods takes the nodes that a workload's pods are on, and the pull secrets of these
// pods and of those to come.
func (o *options) ofPods(ctx context.Context, p *kube.ImagePull) error {
	client, err := o.factory.Dynamic()
	if err != nil {
		return err
	}
	found, err := clusterread.ReadWorkload(ctx, client, *o.name, p.Namespace)
	if err != nil {
		return err
	}
	for _, pod := range found.State.Pods {
		if pod.Node != "" && rules.Active(pod) {
			p.Nodes = append(p.Nodes, pod.Node)
		}
	}
	if found.Ref.Namespace == "" {
		return nil // the pods of a SidecarSet have secrets in many namespaces
	}
	template, _ := tree.Value(tree.Get(found.Object.Node(), "spec", "template")).(map[string]any)
	if err := o.addSecrets(ctx, p, template); err != nil || len(found.State.Pods) == 0 {
		return err
	}
	secrets, err := secretsOf(ctx, client, found.State.Pods[0])
	add(p, secrets)
	return err
}

// addSecrets adds those that a pod of a template gets; nil is a pod that says nothing.
func (o *options) addSecrets(ctx context.Context, p *kube.ImagePull, template map[string]any) error {
	cfg, err := o.factory.Config()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	secrets, err := kube.TemplateSecrets(ctx, client, p.Namespace, template)
	if err != nil {
		_, err = fmt.Fprintf(o.factory.Streams.Err, "warning: %v\n", err)
	}
	add(p, secrets)
	return err
}

func add(p *kube.ImagePull, secrets []string) {
	for _, name := range secrets {
		if !slices.Contains(p.Secrets, name) {
			p.Secrets = append(p.Secrets, name)
		}
	}
}

// secretsOf are the names of a pod's pull secrets; its service account's are among
// them.
func secretsOf(ctx context.Context, client dynamic.Interface, pod *cluster.Pod) ([]string, error) {
	o, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read pod %s: %w", pod.Name, err)
	}
	var out []string
	for _, s := range tree.Items(tree.Get(tree.FromValue(o.Object), "spec", "imagePullSecrets")) {
		out = append(out, tree.StrAt(s, "name"))
	}
	return out, nil
}

// byLabels takes the nodes that a selector matches, all by default.
func (o *options) byLabels(ctx context.Context) ([]string, error) {
	if _, err := labels.Parse(o.nodes); err != nil {
		return nil, command.Usagef("for instance pool=gpu,zone!=b", "--nodes: %w", err)
	}
	client, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	var out []string
	opt := metav1.ListOptions{LabelSelector: o.nodes, Limit: 500}
	for {
		page, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(ctx, opt)
		if err != nil {
			return nil, fmt.Errorf("cannot read nodes: %w", err)
		}
		for i := range page.Items {
			out = append(out, page.Items[i].GetName())
		}
		if opt.Continue = page.GetContinue(); opt.Continue == "" {
			return out, nil
		}
	}
}
