package rollout

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func newResume(shared *common) *cobra.Command {
	o := &control{goesOn: true, detaches: true, without: pauseField(false), release: releasePause(false), makes: always(resuming), group: ofGroup{marks: resumesGroup, onlyWaiting: true}}
	c := newControl(shared, o, &cobra.Command{
		Use: "resume (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Go on with a rollout that was paused or left",
		Long: `Go on with a rollout that was put on hold, or whose driver was killed or went away:
from where its record in the cluster stands, without repeating or skipping a step. A
workload that no rollout of ours is on record for has its own pause taken away; so has
a Rollout of rollouts.kruise.io.`,
		Example: "  kubectl kruise rollout resume cloneset/web\n  kubectl kruise rollout resume deployment api web",
	})
	o.addObjects(c, "resumed")
	return c
}

var resuming = action{
	do:   plan.Progress.Resume,
	said: func(r plan.Record) string { return "goes on: " + r.Describe() },
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
		Long: `Pause a rollout now: no further pod is updated when the command returns, but for those
on their way. The controller of the workload is stopped by a field of its spec, which
'rollout resume' takes back. With --after-step the present step is carried out first, and
nothing is stopped.

Where none of our rollouts is on record, the workload's own controller is told to update
no more pods; a Rollout of rollouts.kruise.io is paused itself.`,
		Example: "  kubectl kruise rollout pause cloneset/web\n  kubectl kruise rollout pause cloneset/web --after-step\n  kubectl kruise rollout pause rollout/web",
	})
	c.Flags().BoolVar(&afterStep, "after-step", false, "carry the present step out, and pause then")
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
		Use: "retry TYPE/NAME", Short: "Go on with a rollout that has halted",
		Example: "  kubectl kruise rollout retry cloneset/web",
	})
}

var retrying = action{
	do:   plan.Progress.Retry,
	said: func(r plan.Record) string { return "tries again: " + r.Describe() },
}
