package create

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const podFlag = "pod"

// recreateFields are the fields of a ContainerRecreateRequest; the defaults are the
// older plugin's.
var recreateFields = []Field{
	{Flag: podFlag, Short: "p", Path: "spec.podName", Shape: Text, Help: "name of the pod"},
	{Flag: "container", Path: "spec.containers", Shape: Names, Help: "containers to restart (default: all of the pod)"},
	{Flag: "failure-policy", Path: "spec.strategy.failurePolicy", Shape: Text, Default: string(kruise.ContainerRecreateFail), Help: "action when a container cannot be stopped", Legal: []string{string(kruise.ContainerRecreateFail), string(kruise.ContainerRecreateIgnore)}},
	{Flag: "ordered-recreate", Path: "spec.strategy.orderedRecreate", Shape: Truth, Help: "restart containers one after the other"},
	{Flag: "force-recreate", Path: "spec.strategy.forceRecreate", Shape: Truth, Help: "also restart containers that have restarted by themselves since"},
	{Flag: "termination-grace-period-seconds", Path: "spec.strategy.terminationGracePeriodSeconds", Shape: Number, Help: "seconds that a container may take to stop (default: those of the pod)"},
	{Flag: "unready-grace-period-seconds", Short: "u", Path: "spec.strategy.unreadyGracePeriodSeconds", Shape: Number, Default: "3", Help: "seconds that the pod is not ready before containers are stopped"},
	{Flag: "min-started-seconds", Short: "m", Path: "spec.strategy.minStartedSeconds", Shape: Number, Default: "3", Help: "seconds that a new container must run to count as started"},
	{Flag: "active-deadline-seconds", Path: "spec.activeDeadlineSeconds", Shape: Number, Default: "300", Help: "seconds until the request gives up"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.ttlSecondsAfterFinished", Shape: Number, Default: "1800", Help: "seconds until the finished request is deleted"},
}

func newRecreateRequest(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "containerrecreaterequest NAME --pod POD [--containers A,B]",
		Aliases: []string{kruise.KindContainerRecreateRequest, "containerrecreaterequests", "crr"},
		Short:   "Create a ContainerRecreateRequest: restart containers",
		Example: `  # one container of a pod
  kubectl kruise create ContainerRecreateRequest restart-web --pod web-0 --containers app

  # all of them, each after 10 seconds without traffic
  kubectl kruise create crr restart-web -p web-0 -u 10`,
	}
	newForm(f, c, kruise.KindContainerRecreateRequest, &kruise.ContainerRecreateRequest{}, recreateFields)
	return c
}

// containers fills in all containers where none were named, and finds out whether those
// that were named are there. Kruise's webhook adds their ports and hooks.
func (o *form) containers(ctx context.Context, object *tree.Node) error {
	pod := tree.StrAt(object, "spec", "podName")
	if pod == "" {
		return command.Usagef("give --pod POD", "the pod is not named")
	}
	asked := tree.Items(tree.Get(object, "spec", "containers"))
	if len(asked) > 0 && o.sending.Offline() {
		return nil
	}
	have, err := o.containersOf(ctx, pod)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		tree.SetAt(object, tree.Seq(), "spec", "containers")
		for _, name := range have {
			tree.Append(tree.Get(object, "spec", "containers"), []*tree.Node{tree.Map("name", tree.String(name))})
		}
	}
	for _, n := range asked {
		if name := tree.StrAt(n, "name"); !slices.Contains(have, name) {
			return &resource.Error{Err: fmt.Errorf("pod %s has no container %q", pod, name), Hint: fmt.Sprintf("it has %v", have)}
		}
	}
	return nil
}

// containersOf are the names of a pod's regular containers.
func (o *form) containersOf(ctx context.Context, pod string) ([]string, error) {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	p, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(namespace).Get(ctx, pod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, &resource.Error{Err: fmt.Errorf("there is no pod %s in namespace %s", pod, namespace), Hint: "check --pod and -n"}
	case err != nil:
		return nil, fmt.Errorf("cannot read pod %s: %w", pod, err)
	}
	return namesAt(p, "spec", "containers"), nil
}

// namesAt of the elements of a list.
func namesAt(u *unstructured.Unstructured, path ...string) []string {
	list, _, _ := unstructured.NestedSlice(u.Object, path...)
	var out []string
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			name, _, _ := unstructured.NestedString(m, "name")
			out = append(out, name)
		}
	}
	return out
}
