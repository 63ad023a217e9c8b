package debug

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// many are the pods of a selector or of a workload; nil where pods or nodes are named
// one by one.
func (o *options) many(ctx context.Context) (*resourcearg.PodSelection, error) {
	if o.selector != "" {
		s, err := labels.Parse(o.selector)
		if err != nil {
			return nil, command.Usagef("for instance app=web", "-l: %w", err)
		}
		return &resourcearg.PodSelection{Namespace: o.Namespace, Selector: s}, nil
	}
	if len(o.TargetNames) != 1 || !resourcearg.NamesNonPod(o.TargetNames[0]) || isNode(o.TargetNames[0]) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	find := &resourcearg.Finder{Factory: o.kubectl, Namespace: o.Namespace}
	u, err := find.Named(ctx, o.TargetNames[0])
	if err != nil {
		return nil, err
	}
	chosen, err := resourcearg.PodsOf(ctx, u, find.Get)
	if err != nil || chosen.Name != "" {
		o.TargetNames = []string{chosen.Name}
		return nil, err
	}
	return &chosen, nil
}

func isNode(arg string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(arg), "/")
	return kind == "node" || kind == "nodes" || kind == "no"
}

// each puts the container into one pod after the other.
func (o *options) each(ctx context.Context, c *cobra.Command, chosen resourcearg.PodSelection) error {
	if err := o.withoutJob(); err != nil {
		return err
	}
	client, err := o.kubectl.KubernetesClientSet()
	if err != nil {
		return err
	}
	list, err := chosen.List(ctx, client.CoreV1())
	if err != nil {
		return err
	}
	o.TargetNames, o.Filenames = running(list), nil
	if len(o.TargetNames) == 0 {
		return errNoPods
	}
	if o.Container == "" {
		o.Container = "debugger-" + suffix()
	}
	if err := o.tell("no Kruise here: container %s is put into %s", o.Container, strings.Join(o.TargetNames, ", ")); err != nil {
		return err
	}
	return kubectl.Err(o.Run(o.kubectl, c))
}

// withoutJob refuses what only an EphemeralJob can do.
func (o *options) withoutJob() error {
	switch {
	case o.job != (job{}):
		return command.Usagef("leave them out", "--replicas, --parallelism and --ttl need Kruise, which this cluster has not")
	case o.dryRun != 0 || o.output.OutputFlagSpecified():
		return command.Usagef("name one pod with kubectl debug", "--dry-run and -o show an EphemeralJob, and this cluster has no Kruise")
	}
	return nil
}

// running are the pods into which a container can be put.
func running(list []corev1.Pod) []string {
	var out []string
	for i := range list {
		p := &list[i]
		if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			out = append(out, p.Name)
		}
	}
	return out
}
