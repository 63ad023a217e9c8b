package rollout

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func newPromote(shared *common) *cobra.Command {
	var full bool
	var to string
	c := newControl(shared, &control{goesOn: true, group: ofGroup{marks: resumesGroup, onlyWaiting: true}, makes: func() (action, error) {
		how, err := promotionOf(full, to)
		return promoting(how), err
	}}, &cobra.Command{
		Use: "promote TYPE/NAME", Short: "Promote a rollout to its next step",
		Long: `Promote a rollout past the pause or condition that it is at. --full skips all remaining
pauses, --to those up to an amount; verify steps still run.`,
		Example: "  kubectl kruise rollout promote cloneset/web\n  kubectl kruise rollout promote cloneset/web --to 50%",
	})
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

// promoting lets a rollout go on past its step, or all pauses up to an amount.
func promoting(how plan.Promotion) action {
	return action{do: apply.Promotion(how), said: func(r plan.Record) string {
		name := func(i int) string { return r.Plan.Steps[max(0, min(i, len(r.Plan.Steps)-1))].Name }
		if how == (plan.Promotion{}) {
			return "promoted: step " + name(r.Progress.Step) + " is over"
		}
		return "promoted: no pause counts up to step " + name(r.Progress.Free-1)
	}}
}
