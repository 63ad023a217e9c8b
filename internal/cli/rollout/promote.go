package rollout

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func newPromote(shared *common) *cobra.Command {
	var full bool
	var to string
	c := newControl(shared, &control{goesOn: true, change: func(r *kube.Record) (string, error) {
		return promotion(full, to)(r)
	}}, &cobra.Command{
		Use: "promote TYPE/NAME", Short: "Let a rollout go on to its next step",
		Long: `Let a rollout go on past the pause or the condition at which it stands. --full
passes all pauses that are left, --to those up to an amount; what is verified is
verified all the same.`,
		Example: "  kubectl kruise rollout promote cloneset/web\n  kubectl kruise rollout promote cloneset/web --to 50%",
	})
	c.Flags().BoolVar(&full, "full", false, "pass all pauses that are left")
	c.Flags().StringVar(&to, "to", "", "pass the pauses up to this many updated pods, such as 5 or 50%")
	return c
}

// promotion lets a rollout go on past its step, or all pauses up to an amount.
func promotion(full bool, to string) func(*kube.Record) (string, error) {
	return func(r *kube.Record) (string, error) {
		if err := running(*r); err != nil {
			return "", err
		}
		free, err := freeUntil(r, full, to)
		if err != nil {
			return "", err
		}
		r.Progress.Held = ""
		if free > 0 {
			r.Progress.Free = free
		} else {
			r.Progress.Promoted = true
		}
		return promotedText(r, free), nil
	}
}

func promotedText(r *kube.Record, free int) string {
	name := func(i int) string { return r.Plan.Steps[min(i, len(r.Plan.Steps)-1)].Name }
	if free > 0 {
		return "promoted: no pause counts up to step " + name(free-1)
	}
	return "promoted: step " + name(r.Progress.Step) + " is over"
}

// freeUntil is the index of the first step whose pause counts; 0 promotes the
// present step alone.
func freeUntil(r *kube.Record, full bool, to string) (int, error) {
	switch {
	case full && to != "":
		return 0, usage.Errorf("", "--full and --to exclude each other")
	case full:
		return len(r.Plan.Steps), nil
	case to == "":
		return 0, nil
	}
	amount, err := plan.ParseAmount(to)
	if err != nil {
		return 0, usage.Errorf("for instance 5 or 50%", "--to: %v", err)
	}
	want := amount.Of(r.Plan.Limits.Replicas)
	for i := range r.Plan.Steps {
		if r.Plan.Steps[i].Updated >= want && i >= r.Progress.Step {
			return i + 1, nil
		}
	}
	return len(r.Plan.Steps), nil
}
