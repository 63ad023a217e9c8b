// Package restart has the verb that restarts containers inside their pods.
package restart

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

const long = `Restart containers in place: the pods stay, with their addresses and volumes. For a
whole workload it restarts pod by pod, in the order of an update, within maxUnavailable
and the budgets. The template does not change; to recreate the pods, use "kubectl kruise
rollout restart".

Methods, chosen by what the cluster supports:
  crr          Kruise's node agent stops the containers (ContainerRecreateRequest)
  image-alias  the pod's image is written with its digest, so the kubelet starts the
               container again; the pod keeps the image in that form
  signal       TERM for the container's first process, sent by a program of its image

Pods of a Job, or unmanaged pods, are restarted one after the other, each when the one
before is ready again.

Progress is recorded in the cluster: "kubectl kruise rollout resume", or for pods of a
Job or unmanaged pods the same command again, continues after an interruption and
restarts nothing twice. A plan that cannot finish is refused. So are init containers,
native sidecars and ephemeral containers, as Kruise refuses them, and containers that
would not start again (restartPolicy Never).`

const example = `  # all containers of all pods of a workload
  kubectl kruise restart cloneset/web

  # one container in all pods of a workload
  kubectl kruise restart cloneset/web -c app

  # one container everywhere: in all workloads with a label, one workload after the other
  kubectl kruise restart -l app.kubernetes.io/part-of=shop -c app

  # one container of two pods, without Kruise, and without being asked
  kubectl kruise restart web-0 web-1 -c app --method image-alias --yes

  # one pod first, then the others; each out of service for 10 s before it stops
  kubectl kruise restart statefulset/db --steps 1,100% --unready 10s`

type options struct {
	factory *factory.Factory
	own     *execute.VerbRunner

	what  plan.RestartRequest
	steps string
	// selector matches workloads or pods that are not named.
	selector string
	timeout  time.Duration
	policy   plan.Policy
}

var methods = []string{plan.RestartCRR, plan.RestartAlias, plan.RestartSignal}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, own: execute.NewVerbRunner(f)}
	c := &cobra.Command{
		Use: "restart (POD… | TYPE/NAME | [TYPE] -l SELECTOR)", Short: "Restart containers; the pods stay", Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(c, args); err != nil {
				return err
			}
			return o.run(c.Context(), args)
		},
		ValidArgsFunction: resourcearg.CompleteNames(f),
	}
	fl := c.Flags()
	fl.StringSliceVarP(&o.what.Containers, "container", "c", nil, "container to restart; repeatable (default: all regular containers)")
	fl.StringVarP(&o.selector, "selector", "l", "", "all workloads, or with the type pods all pods, that this label selector matches, one workload after the other")
	fl.StringVar(&o.what.Method, "method", "", "restart method: crr, image-alias or signal (default: chosen)")
	fl.BoolVar(&o.what.Ordered, "ordered", false, "restart one container after the other (crr)")
	fl.DurationVar((*time.Duration)(&o.what.Unready), "unready", 0, "time a pod is not ready before its containers stop (crr)")
	fl.StringVar(&o.steps, "steps", "", "pods restarted after each step, such as 1,50%,100% (default: all in one step)")
	fl.DurationVar(&o.timeout, "step-timeout", 0, "timeout of each step (default: scales with the number of pods)")
	o.own.AddFlags(c)
	command.Offer(c, "method", methods...)
	return c
}

func (o *options) complete(c *cobra.Command, args []string) error {
	if err := o.own.Validate(c); err != nil {
		return err
	}
	switch m := o.what.Method; {
	case o.selector != "" && (len(args) > 1 || len(args) == 1 && strings.Contains(args[0], "/")):
		return command.Usagef("for instance pods -l app=web", "-l goes with types, not with names")
	case o.selector == "" && len(args) == 0:
		return command.Usagef("for instance cloneset/web, names of pods, or -l app=web", "nothing to restart")
	case m != "" && !slices.Contains(methods, m):
		return command.Usagef("one of: "+strings.Join(methods, ", "), "--method: unknown method %q", m)
	case m != "" && m != plan.RestartCRR && (o.what.Ordered || o.what.Unready != 0):
		return command.Usagef("leave them out, or take --method crr", "--ordered and --unready are for the method crr")
	case o.what.Unready < 0 || o.timeout < 0:
		return command.Usagef("", "a time is in the past")
	}
	o.policy.Timeout = plan.Duration(o.timeout)
	if o.steps == "" {
		return nil
	}
	var err error
	if o.policy.Steps, err = plan.ParseSteps(o.steps); err == nil {
		err = plan.CheckSteps(o.policy.Steps)
	}
	if err != nil {
		return command.Usagef("", "--steps: %w", err)
	}
	return nil
}

// run restarts one workload, or the pods of one after the other.
func (o *options) run(ctx context.Context, args []string) error {
	work, err := o.find(ctx, args)
	if err != nil {
		return err
	}
	for _, w := range work {
		m := planning.RestartMaker{Factory: o.factory, What: o.what, Policy: o.policy}
		m.What.Pods = w.pods
		if err := o.own.Run(ctx, w.name, w.question(), m.Plan); err != nil {
			return err
		}
	}
	return nil
}

// Plans makes plans that restart containers as the verb does, by whatever method the
// cluster has.
func Plans(f *factory.Factory, what plan.RestartRequest) func(plan.Snapshot) (plan.Plan, error) {
	return (&planning.RestartMaker{Factory: f, What: what}).Plan
}

// work is a workload, and which of its pods; none stands for all.
type work struct {
	name resourcearg.Name
	pods []string
}

func (w work) question() string {
	if len(w.pods) == 0 {
		return "Restart the containers of all pods of " + w.name.String() + "?"
	}
	return "Restart containers of " + strings.Join(w.pods, ", ") + "?"
}
