package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

const whyLong = `Explain why a rollout makes no progress; for a pod, why it was not updated, is not
ready, or has no sidecar or an old one. Causes that need action come first (!), each
with a hint. For containers in CrashLoopBackOff it shows the last lines of their logs.

For a UnitedDeployment it explains each of its subsets. For that, a WorkloadSpread and
the workload that one spreads it shows where the pods are: for each subset its limit, the
desired, actual and ready pods, and why the numbers differ. If a Kruise Rollout or a
UnitedDeployment controls the workload, it names that object, its state, and the command
that continues it.

If a rollout waits for approval, it compares the new pods with the old ones: readiness,
restarts, last terminations, lines per minute that look like errors in a sample of the
logs, and the plan's Prometheus queries if you approved the plan on this machine. Parts
that you may not read are named and skipped.

It reads the workload, its pods, budgets and SidecarSets, and writes nothing. The exit
code is always 0: use "rollout status" in scripts.`

const whyExample = `  # why does the rollout not progress
  kubectl kruise why cloneset/web -n shop

  # why does this pod run the old image, or no sidecar
  kubectl kruise why web-7f9c2 -n shop

  # which subset is blocked; where the pods are, and where they should be
  kubectl kruise why uniteddeployment/web -n shop
  kubectl kruise why workloadspread/web -n shop

  # as JSON
  kubectl kruise why sidecarset/mesh -o json`

type whyOptions struct {
	factory        *factory.Factory
	output         string
	stateNamespace string

	dynamic dynamic.Interface
	core    kubernetes.Interface
	config  *rest.Config
}

var whyOutputs = []string{"text", "json"}

// NewWhy returns the verb.
func NewWhy(f *factory.Factory) *cobra.Command {
	o := &whyOptions{factory: f}
	c := &cobra.Command{
		Use: "why (TYPE/NAME | POD)", Short: "Explain why a rollout or pod is not updated",
		Long: whyLong, Example: whyExample, ValidArgsFunction: resourcearg.CompleteNames(f),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return command.Usagef("for instance cloneset/web, or the name of a pod", "give one TYPE/NAME or POD")
			case !slices.Contains(whyOutputs, o.output):
				return command.Usagef("one of: text, json", "--output: unknown value %q", o.output)
			}
			return o.run(c.Context(), args[0])
		},
	}
	c.Flags().StringVarP(&o.output, "output", "o", whyOutputs[0], "output format: text or json")
	c.Flags().StringVar(&o.stateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(whyOutputs, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (o *whyOptions) run(ctx context.Context, arg string) error {
	work := o.factory.Working("reading the cluster")
	answer, err := o.answer(ctx, arg)
	work.Stop()
	if err != nil {
		return err
	}
	if o.output == "json" {
		return view.JSON(o.factory.Streams.Out, answer)
	}
	return view.Why(o.factory.Streams.Out, answer, o.factory.OutStyle(false))
}

// answer asks about a workload or a pod.
func (o *whyOptions) answer(ctx context.Context, arg string) (view.Diagnosed, error) {
	if name, ok := resourcearg.ParseUnited(arg); ok {
		return o.whyUnited(ctx, arg, name)
	}
	if isSpread(arg) {
		p, err := clusterread.ReadPlacement(ctx, o.factory, arg)
		return view.Diagnosed{Placement: p}, err
	}
	pod, isPod := podArgument(arg)
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

func (o *whyOptions) workload(ctx context.Context, name resourcearg.Name, namespace string) (view.Diagnosed, error) {
	q, err := o.question(ctx, name, namespace)
	if err != nil {
		return view.Diagnosed{}, err
	}
	d := diagnose.Workload(q)
	out := view.Diagnosed{Diagnosis: d, Logs: o.logs(ctx, d, q.Snapshot.Pods)}
	if diagnose.AwaitsApproval(d) {
		approved := planning.ApprovedHere(o.factory.Streams.Getenv, o.core, o.config)
		c := clusterread.EvidenceReader{Core: o.core, Approved: approved}.Read(ctx, q)
		out.Evidence = &c
	}
	if by := spreadOf(q.Snapshot.Pods); by != "" {
		out.Placement = o.placement(ctx, "workloadspread/"+by)
	}
	return out, nil
}

// podArgument reads POD, pod/POD or po/POD.
func podArgument(arg string) (string, bool) {
	if !strings.Contains(arg, "/") {
		return arg, true
	}
	n, ok := resourcearg.ParsePod(arg)
	return n.Name, ok
}

func (o *whyOptions) clients() (namespace string, err error) {
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

// question reads a workload, what belongs to it, and the state of its rollout.
func (o *whyOptions) question(ctx context.Context, name resourcearg.Name, namespace string) (diagnose.Question, error) {
	q := diagnose.Question{Name: name.String(), Now: time.Now()}
	res, err := clusterread.ReadWorkload(ctx, o.dynamic, name, namespace)
	if err != nil {
		return q, err
	}
	for _, s := range res.Skipped {
		o.warn("not considered: %s", s)
	}
	if q.Snapshot, err = o.snapshot(ctx, res, q.Now); err != nil {
		return q, err
	}
	o.recorded(ctx, &q)
	o.hand(ctx, &q, res)
	return q, nil
}

// snapshot is what is known of the workload, with the feature gates that Kruise has.
func (o *whyOptions) snapshot(ctx context.Context, res *clusterread.WorkloadState, at time.Time) (plan.Snapshot, error) {
	cfg, err := o.factory.Config()
	if err != nil {
		return plan.Snapshot{}, err
	}
	set, unread, err := installation.LiveGates(ctx, cfg, installation.GateFlags{})
	if err != nil {
		return plan.Snapshot{}, err
	}
	s, err := res.Snapshot(set.Gates, at)
	s.GatesUnread = unread
	return s, err
}

// recorded uses the recorded rollout; without one, or after it, the spec says
// what is to become of the pods.
func (o *whyOptions) recorded(ctx context.Context, q *diagnose.Question) {
	records := kube.Records{Client: o.core, StateNamespace: o.stateNamespace}
	ref := q.Snapshot.Workload.Ref
	rec, err := records.Load(ctx, ref)
	switch {
	case err != nil && !errors.Is(err, plan.ErrNoRollout):
		o.warn("the recorded rollout is not considered: %v", err)
		fallthrough
	case err != nil, !rec.Progress.Finished.IsZero():
		q.ForSpec()
		return
	}
	q.Begun, q.Plan = true, rec.Plan
	q.Snapshot.Progress, q.Snapshot.Base = rec.Progress, rec.Base
	if q.Holder, err = records.Holder(ctx, ref); err != nil {
		q.Holder = "an executor that you may not read"
	}
}

func (o *whyOptions) warn(format string, args ...any) {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: "+format+"\n", args...)
}

// hand finds out who else drives the workload.
func (o *whyOptions) hand(ctx context.Context, q *diagnose.Question, res *clusterread.WorkloadState) {
	var err error
	if q.Controller, err = clusterread.FindController(ctx, o.dynamic, res.Ref, res.Object); err != nil {
		o.warn("not considered: Kruise Rollout: %v", err)
	}
}
