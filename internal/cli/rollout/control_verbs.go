package rollout

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func newPromote(shared *session.Client) *cobra.Command {
	var full bool
	var to string
	o := &control{action: session.Action{Act: apply.Act{Transition: plan.TransitionPromote}}}
	c := newControl(shared, o, &cobra.Command{
		Use: "promote TYPE/NAME", Short: "Promote a rollout to its next step",
		Long: `Promote a rollout past the pause or condition that it is at. --full skips all remaining
pauses, --to those up to an amount; verify steps still run. The current step of a Rollout
of rollouts.kruise.io, named by itself or by its workload, is approved.`,
		Example: "  kubectl kruise rollout promote cloneset/web\n  kubectl kruise rollout promote cloneset/web --to 50%",
		PreRunE: func(*cobra.Command, []string) (err error) {
			o.action.How, err = promotionOf(full, to)
			return err
		},
	}, "")
	c.Flags().BoolVar(&full, "full", false, "skip all remaining pauses")
	c.Flags().StringVar(&to, "to", "", "skip pauses up to this number of updated pods, such as 5 or 50%")
	return c
}

// promotionOf reads the flags.
func promotionOf(full bool, to string) (how plan.Promotion, err error) {
	switch {
	case full && to != "":
		return how, command.Usagef("", "--full and --to exclude each other")
	case to == "":
		return plan.Promotion{Full: full}, nil
	}
	amount, err := plan.ParseAmount(to)
	if err != nil {
		return how, command.Usagef("for instance 5 or 50%", "--to: %v", err)
	}
	return plan.Promotion{To: &amount}, nil
}

func newResume(shared *session.Client) *cobra.Command {
	return newControl(shared, &control{action: session.Action{Act: apply.Act{Transition: plan.TransitionResume}}}, &cobra.Command{
		Use: "resume (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Resume a paused or unattended rollout",
		Long: `Resume a rollout that was paused, or whose executor has stopped: it continues from the
state recorded in the cluster, without repeating or skipping a step. For a workload
without a recorded rollout, the pause of the workload itself is removed; so is that of
a Rollout of rollouts.kruise.io.`,
		Example: "  kubectl kruise rollout resume cloneset/web\n  kubectl kruise rollout resume deployment api web",
	}, "resumed")
}

func newPause(shared *session.Client) *cobra.Command {
	o := &control{action: session.Action{Act: apply.Act{Transition: plan.TransitionPause}}}
	c := newControl(shared, o, &cobra.Command{
		Use: "pause (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Pause a rollout",
		Long: `Pause a rollout: no more pods are updated once the command returns, except those already
in progress. The controller is stopped by a field of the workload's spec, which
'rollout resume' restores. With --after-step the current step is finished first, and the
controller is not stopped.

For a workload without a recorded rollout, its own controller is paused; a Rollout of
rollouts.kruise.io is paused itself.`,
		Example: "  kubectl kruise rollout pause cloneset/web\n  kubectl kruise rollout pause cloneset/web --after-step\n  kubectl kruise rollout pause rollout/web",
	}, "paused")
	c.Flags().BoolVar(&o.action.AfterStep, "after-step", false, "finish the current step, then pause")
	return c
}

func newRetry(shared *session.Client) *cobra.Command {
	return newControl(shared, &control{action: session.Action{Act: apply.Act{Transition: plan.TransitionRetry}}}, &cobra.Command{
		Use: "retry TYPE/NAME", Short: "Retry the failed step of a rollout",
		Example: "  kubectl kruise rollout retry cloneset/web",
	}, "")
}

func newAbort(shared *session.Client) *cobra.Command {
	var rollback bool
	o := &control{action: session.Action{Act: apply.Act{Transition: plan.TransitionAbort}}}
	c := newControl(shared, o, &cobra.Command{
		Use: "abort TYPE/NAME", Short: "Abort a rollout, or roll it back",
		Long: `Abort a rollout: no more pods are updated once the command returns, except those
already in progress. The controller is stopped by a field of the workload's spec, which
'rollout retry', 'rollout abort --rollback' and the next rollout restore. With
--rollback the workload returns to the revision that the rollout started from, within
its budgets, and in place where possible.`,
		Example: "  kubectl kruise rollout abort cloneset/web\n  kubectl kruise rollout abort cloneset/web --rollback --yes",
		PreRun: func(*cobra.Command, []string) {
			if rollback {
				o.action.Transition = plan.TransitionRollBack
			}
		},
	}, "")
	c.Flags().BoolVar(&rollback, "rollback", false, "also roll back to the revision before the rollout")
	return c
}
