// Package apply is the verb that brings a cluster to what manifests say: render,
// show what differs, ask, apply, roll changed workloads out by plan, prune.
package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	rendercmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/render"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
)

const long = `Apply manifests and roll out what they change, in one step: render, show the
differences from the cluster and the plan of each rollout, ask for confirmation, apply
on the server's side, roll out, wait until everything is ready, and prune.

New workloads are created. A workload whose template changes is rolled out step by step
when Jobs have completed, as "rollout run" does, and a UnitedDeployment subset by subset:
its whole spec is written at once, with only what holds pods back changed. To continue an
interrupted rollout, run the same apply again, or "rollout resume".

Workloads are rolled out one after the other, and none after one that failed. With
--parallel, --max-unavailable-total, --max-failures, --wave-by or --group they are a
group, as those of "rollout run" are.

With --applyset the objects are members of an ApplySet, as kubectl has them; --prune
deletes members that are no longer in the manifests, when all rollouts have completed.

Exit codes: 0 done, 1 error (nothing is written where one shows beforehand), 2
usage, 3 a rollout or a Job failed, 4 timed out, 5 paused or waiting for approval.`

const example = `  # show what would be done, and ask
  kubectl kruise apply -f manifests/

  # in CI: a kustomization, in steps, with what left it deleted
  kubectl kruise apply -k overlays/prod --steps 1,25%,100% --applyset shop --prune --yes

  # many workloads, in the waves of their annotation, ten at a time
  kubectl kruise apply -f shop/ --wave-by argocd.argoproj.io/sync-wave --parallel 10 --max-unavailable-total 5%

  # what would the server say
  kubectl kruise apply -f app.yaml --dry-run=server

  # without Kruise, pod by pod, as Kruise would
  kubectl kruise apply -f app.yaml --target native --driver client --yes`

type options struct {
	factory  *factory.Factory
	render   *rendercmd.Step
	rollouts *execute.Batch

	yes          bool
	dryRun       string
	force        bool
	fieldManager string
	applySet     string
	prune        bool
	wait         bool
	jobTimeout   time.Duration
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, render: rendercmd.NewStep(f), rollouts: execute.NewBatch(f)}
	c := &cobra.Command{
		Use: "apply (-f FILE | -k DIR)", Short: "Render, apply, roll out and prune, in one step",
		Long: long, Example: example,
		Args: command.NoArgs("name files with -f, a kustomization with -k"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(c); err != nil {
				return err
			}
			return o.run(c.Context())
		},
	}
	o.addFlags(c)
	return c
}

func (o *options) addFlags(c *cobra.Command) {
	o.render.AddFlags(c)
	o.rollouts.AddFlags(c)
	// What is applied again may find pods that just start: it waits for them.
	ready := c.Flags().Lookup("assume-ready")
	ready.DefValue, ready.Usage = "true", "assume that pods which are not ready now become ready (default here: an apply may be what mends them)"
	_ = ready.Value.Set("true")
	fl := c.Flags()
	fl.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	fl.StringVar(&o.dryRun, "dry-run", "none", "none, client (compare with the cluster and write nothing), or server (let the server check it, too)")
	fl.BoolVar(&o.force, "force-conflicts", false, "take fields that other managers own")
	fl.StringVar(&o.fieldManager, "field-manager", kube.FieldManager, "name under which fields are owned")
	fl.StringVar(&o.applySet, "applyset", "", "set that the objects belong to: NAME of a Secret, or secret/NAME, configmap/NAME; made if there is none")
	fl.BoolVar(&o.prune, "prune", false, "with --applyset: delete members that the manifests do not hold any more")
	fl.BoolVar(&o.wait, "wait", true, "wait until Jobs are done and the pods of applied workloads are there, for no longer than a step may take (--step-timeout)")
	fl.DurationVar(&o.jobTimeout, "job-timeout", 10*time.Minute, "how long to wait for Jobs; 0 waits for whatever it takes")
	command.Offer(c, "dry-run", dryRuns...)
}

var dryRuns = []string{"none", "client", "server"}

func (o *options) complete(c *cobra.Command) error {
	for _, err := range []error{o.render.Validate(), o.rollouts.Validate(c), command.OneOf("dry-run", o.dryRun, dryRuns...)} {
		if err != nil {
			return err
		}
	}
	switch {
	case o.prune && o.applySet == "":
		return command.Usagef("give --applyset NAME: only members of a set are deleted", "--prune needs --applyset")
	case o.jobTimeout < 0:
		return command.Usagef("", "--job-timeout: %s is in the past", o.jobTimeout)
	case o.fieldManager == "":
		return command.Usagef("", "--field-manager is empty")
	}
	if o.applySet == "" {
		return nil
	}
	// The error is one of the text alone: the namespace is not known yet.
	if _, err := set.ParseParent(o.applySet, ""); err != nil {
		return command.Usagef("a name, secret/NAME or configmap/NAME", "--applyset: %w", err)
	}
	return nil
}

// run is the whole story.
func (o *options) run(ctx context.Context) error {
	work := o.factory.Working("rendering, and reading the cluster")
	w, err := o.read(ctx)
	work.Stop()
	if err != nil {
		return err
	}
	if err := w.takeOver(ctx); err != nil {
		return err
	}
	work = o.factory.Working("comparing with the cluster")
	err = w.foresee(ctx)
	work.Stop()
	if err != nil {
		return err
	}
	differs, err := w.show(ctx)
	if err != nil {
		return err
	}
	if o.dryRun != "none" {
		return w.showDryRun(ctx)
	}
	if differs {
		if err := o.ask(ctx, w); err != nil {
			return err
		}
	}
	return o.unlessPaused((&executor{work: w}).execute(ctx))
}

// ask asks, unless the manifests came in where the answer would have to.
func (o *options) ask(ctx context.Context, w *work) error {
	if !o.yes && o.render.Stdin() {
		return errStdin
	}
	return o.rollouts.Ask(ctx, o.yes, fmt.Sprintf("Apply this to %s?", w.where))
}

var errStdin = command.Usagef("add --yes to confirm without being asked", "cannot ask for confirmation: the manifests come from standard input")

// unlessPaused makes a pause a success where that was asked for.
func (o *options) unlessPaused(err error) error {
	if errors.Is(err, command.ErrPaused) && o.rollouts.Pauses() {
		return nil
	}
	return err
}
