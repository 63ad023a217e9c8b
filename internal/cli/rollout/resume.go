package rollout

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func newResume(shared *common) *cobra.Command {
	o := &control{goesOn: true, detaches: true, without: pauseField(false), release: releasePause(false), makes: always(resuming), group: ofGroup{marks: resumesGroup, onlyWaiting: true}}
	c := newControl(shared, o, &cobra.Command{
		Use: "resume (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Resume a paused or unattended rollout",
		Long: `Resume a rollout that was paused, or whose executor has stopped: it continues from the
state recorded in the cluster, without repeating or skipping a step. For a workload
without a recorded rollout, the pause of the workload itself is removed; so is that of
a Rollout of rollouts.kruise.io.`,
		Example: "  kubectl kruise rollout resume cloneset/web\n  kubectl kruise rollout resume deployment api web",
	})
	o.addObjects(c, "resumed")
	return c
}

var resuming = action{
	do:   plan.Progress.Resume,
	said: func(r plan.Record) string { return "resumed, now " + r.Describe() },
}

func newPause(shared *common) *cobra.Command {
	var afterStep bool
	o := &control{without: pauseField(true), release: releasePause(true), group: ofGroup{marks: pausesGroup}, makes: func() (action, error) {
		if afterStep {
			return holdingAfterStep(), nil
		}
		return holding(), nil
	}}
	c := newControl(shared, o, &cobra.Command{
		Use: "pause (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Pause a rollout",
		Long: `Pause a rollout: no more pods are updated once the command returns, except those already
in progress. The controller is stopped by a field of the workload's spec, which
'rollout resume' restores. With --after-step the current step is finished first, and the
controller is not stopped.

For a workload without a recorded rollout, its own controller is paused; a Rollout of
rollouts.kruise.io is paused itself.`,
		Example: "  kubectl kruise rollout pause cloneset/web\n  kubectl kruise rollout pause cloneset/web --after-step\n  kubectl kruise rollout pause rollout/web",
	})
	c.Flags().BoolVar(&afterStep, "after-step", false, "finish the current step, then pause")
	o.addObjects(c, "paused")
	return c
}

func holding() action {
	return action{do: apply.Pausing(holder()), said: func(r plan.Record) string {
		text := "paused: no further pod is updated until 'rollout resume'"
		if by := r.Progress.Stop.String(); by != "" {
			text += " (" + by + ")"
		}
		return text
	}}
}

func holdingAfterStep() action {
	return action{do: apply.PausingAfterStep(holder()), said: func(r plan.Record) string {
		text := "paused after the present step"
		if s := r.Present(); s != nil {
			text += ", " + s.Name
		}
		return text + ": its pods are still updated, no others until 'rollout resume'"
	}}
}

func newRetry(shared *common) *cobra.Command {
	return newControl(shared, &control{goesOn: true, detaches: true, makes: always(retrying)}, &cobra.Command{
		Use: "retry TYPE/NAME", Short: "Retry the failed step of a rollout",
		Example: "  kubectl kruise rollout retry cloneset/web",
	})
}

var retrying = action{
	do:   plan.Progress.Retry,
	said: func(r plan.Record) string { return "retried, now " + r.Describe() },
}
