package rollout

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func newResume(shared *common) *cobra.Command {
	o := &control{goesOn: true, without: pauseField(false), release: releasePause(false), change: resumed}
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

func resumed(r *kube.Record) (string, error) {
	if r.Progress.Halted != "" {
		return "", &resource.Error{Err: fmt.Errorf("it has halted: %s", r.Progress.Halted), Hint: "mend that and 'rollout retry', or 'rollout abort --rollback'"}
	}
	r.Progress.Held = ""
	rested(r)
	return "goes on: " + stands(*r), nil
}

// rested has the time of the present step count from now: while nobody drove it, it did
// not run.
func rested(r *kube.Record) {
	if i := r.Progress.Step; i < len(r.Plan.Steps) && r.Plan.Steps[i].Kind != plan.StepPause {
		r.Progress.Resumed = time.Now().UTC()
	}
}

func newPause(shared *common) *cobra.Command {
	o := &control{without: pauseField(true), release: releasePause(true), change: paused}
	c := newControl(shared, o, &cobra.Command{
		Use: "pause (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Put a rollout on hold",
		Long: `Put a rollout on hold. Where none of ours is on record, the workload's own controller
is told to update no more pods; a Rollout of rollouts.kruise.io is paused itself.`,
		Example: "  kubectl kruise rollout pause cloneset/web\n  kubectl kruise rollout pause rollout/web",
	})
	o.addObjects(c, "paused")
	return c
}

func paused(r *kube.Record) (string, error) {
	if err := running(*r); err != nil {
		return "", err
	}
	r.Progress.Held = fmt.Sprintf("by %s at %s", holder(), time.Now().UTC().Format(time.RFC3339))
	return "on hold: no further step is taken until 'rollout resume'; pods of the present step go on", nil
}

func newRetry(shared *common) *cobra.Command {
	return newControl(shared, &control{goesOn: true, change: retried}, &cobra.Command{
		Use: "retry TYPE/NAME", Short: "Go on with a rollout that has halted",
		Example: "  kubectl kruise rollout retry cloneset/web",
	})
}

func retried(r *kube.Record) (string, error) {
	if r.Progress.Halted == "" {
		return "", errors.New("it has not halted: there is nothing to retry")
	}
	r.Progress.Halted, r.Progress.Started = "", time.Now().UTC()
	return "tries again: " + stands(*r), nil
}
