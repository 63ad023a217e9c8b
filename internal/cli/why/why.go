// Package why is the verb that says on one screen why a rollout does not move, why a
// pod was not updated, and why it has no sidecar or an old one. It reads and never
// writes.
package why

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	compared "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/evidence"
)

const long = `Explain why a rollout makes no progress; for a pod, why it was not updated, is not
ready, or has no sidecar or an old one. Causes that need action come first (!), each
with a hint. For containers in CrashLoopBackOff it shows the last lines of their logs.

For a UnitedDeployment it explains each of its subsets. If a Kruise Rollout or a
UnitedDeployment controls the workload, it names that object, its state, and the command
that continues it.

If a rollout waits for approval, it compares the new pods with the old ones: readiness,
restarts, last terminations, lines per minute that look like errors in a sample of the
logs, and the plan's Prometheus queries if you approved the plan on this machine. Parts
that you may not read are named and skipped.

It reads the workload, its pods, budgets and SidecarSets, and writes nothing. The exit
code is always 0: use "rollout status" in scripts.`

const example = `  # why does it not move
  kubectl kruise why cloneset/web -n shop

  # why does this pod run the old image, or no sidecar
  kubectl kruise why web-7f9c2 -n shop

  # which subset is it
  kubectl kruise why uniteddeployment/web -n shop

  # as data
  kubectl kruise why sidecarset/mesh -o json`

type options struct {
	factory        *factory.Factory
	output         string
	stateNamespace string

	dynamic dynamic.Interface
	core    kubernetes.Interface
	config  *rest.Config
}

var outputs = []string{"text", "json"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use: "why (TYPE/NAME | POD)", Short: "Explain why a rollout or pod is not updated",
		Long: long, Example: example, ValidArgsFunction: resourcearg.CompleteNames(f),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return command.Usagef("for instance cloneset/web, or the name of a pod", "give one TYPE/NAME or POD")
			case !slices.Contains(outputs, o.output):
				return command.Usagef("one of: text, json", "--output: unknown value %q", o.output)
			}
			return o.run(c.Context(), args[0])
		},
	}
	c.Flags().StringVarP(&o.output, "output", "o", outputs[0], "text or json")
	c.Flags().StringVar(&o.stateNamespace, "state-namespace", "kubectl-kruise", "namespace where rollouts of kinds without a namespace are kept")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (o *options) run(ctx context.Context, arg string) error {
	answer, err := o.answer(ctx, arg)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return view.JSON(o.factory.Streams.Out, answer)
	}
	return view.Why(o.factory.Streams.Out, answer, o.factory.OutStyle(false))
}

// answer asks about a workload or a pod.
func (o *options) answer(ctx context.Context, arg string) (view.Diagnosed, error) {
	if name, ok := resourcearg.ParseUnited(arg); ok {
		return o.united(ctx, arg, name)
	}
	pod, isPod := podName(arg)
	var name resourcearg.Name
	var err error
	if !isPod {
		if name, err = resourcearg.Parse(arg); err != nil {
			return view.Diagnosed{}, err
		}
	}
	namespace, err := o.clients()
	if err != nil {
		return view.Diagnosed{}, err
	}
	if isPod {
		return o.pod(ctx, namespace, pod)
	}
	return o.workload(ctx, name, namespace)
}

func (o *options) workload(ctx context.Context, name resourcearg.Name, namespace string) (view.Diagnosed, error) {
	q, err := o.question(ctx, name, namespace)
	if err != nil {
		return view.Diagnosed{}, err
	}
	d := diagnose.Workload(q)
	out := view.Diagnosed{Diagnosis: d, Logs: o.logs(ctx, d, q.Snapshot.Pods)}
	if compared.Asked(d) {
		approved := func(ctx context.Context, p *plan.Plan) bool { return planning.ApprovedHere(ctx, o.core, o.config, p) }
		c := clusterread.EvidenceReader{Core: o.core, Approved: approved}.Read(ctx, q)
		out.Evidence = &c
	}
	return out, nil
}

// podName reads POD, pod/POD or po/POD.
func podName(arg string) (string, bool) {
	if !strings.Contains(arg, "/") {
		return arg, true
	}
	n, ok := resourcearg.ParsePod(arg)
	return n.Name, ok
}

func (o *options) clients() (namespace string, err error) {
	if namespace, err = o.factory.NamespaceOrDefault(); err != nil {
		return "", err
	}
	if o.dynamic, err = o.factory.Dynamic(); err != nil {
		return "", err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return "", err
	}
	o.config = cfg
	o.core, err = kubernetes.NewForConfig(cfg)
	return namespace, err
}
