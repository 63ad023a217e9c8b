package rollout

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

type showOptions struct {
	*session.Client

	name   resourcearg.Name
	output string
}

var showFormats = []string{"text", "yaml", "html"}

func newShow(shared *session.Client) *cobra.Command {
	o := &showOptions{Client: shared}
	c := &cobra.Command{
		Use: "show (TYPE/NAME | TYPE NAME)", Short: "Show the recorded plan, its digest and history",
		Long: `Show the recorded plan of a rollout: the remaining steps, its digest, when it started,
and who approved, promoted, paused or aborted it, when, from which machine and with
which version. Users who can write ConfigMaps can edit the record and its history, so
compare the digest with the one that you approved.`,
		Example: "  kubectl kruise rollout show cloneset/web\n  kubectl kruise rollout show cloneset/web -o yaml > plan.yaml\n  kubectl kruise rollout show cloneset/web -o html > rollout.html",
		RunE: func(c *cobra.Command, args []string) error {
			if err := command.OneOf("output", o.output, showFormats...); err != nil {
				return err
			}
			var err error
			if len(args) == 1 {
				o.name, err = resourcearg.ParseAny(args[0])
			} else {
				o.name, err = resourcearg.ParseOne(args)
			}
			if err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.Factory),
	}
	c.Flags().StringVarP(&o.output, "output", "o", showFormats[0], strings.Join(showFormats, ", "))
	command.Offer(c, "output", showFormats...)
	return c
}

func (o *showOptions) run(ctx context.Context) error {
	s, err := o.Locate(ctx, o.name)
	if err != nil {
		return err
	}
	rollouts, err := o.Rollouts()
	if err != nil {
		return err
	}
	rec, err := rollouts.Get(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	out := o.Factory.Streams.Out
	if o.output == "yaml" {
		text, err := planfile.Write(rec.Plan)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	of := plan.RolloutOf(rec.Plan)
	digests, err := o.Digests(ctx, &of)
	if err != nil {
		return err
	}
	if o.output == "html" {
		return html.Record(out, view.NewRecordPage(rec, digests[0]), html.About{Version: version.Get().Version})
	}
	if err := o.head(out, rec, digests[0]); err != nil {
		return err
	}
	return view.Plan(out, rec.Plan, nil, o.Factory.OutStyle(true))
}

// head is the part of the record that is not the plan.
func (o *showOptions) head(out io.Writer, rec plan.Record, digest string) error {
	lines := []string{
		"state     " + rec.Describe(),
		"digest    " + digest,
		"started   " + rec.Begun.UTC().Format(time.RFC3339),
		"last by   " + draw.Value(rec.By),
	}
	for i := range rec.Plan.Steps {
		name := rec.Plan.Steps[i].Name
		if t, ok := rec.Times[name]; ok {
			lines = append(lines, fmt.Sprintf("step      %s started %s", name, t.UTC().Format(time.RFC3339)))
		}
	}
	lines = append(lines, history(rec.Audit)...)
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n")+"\n")
	return err
}

// history is a line for each decision.
func history(h plan.Audit) []string {
	if len(h.Entries) == 0 {
		return nil
	}
	out := []string{"", "history"}
	for i, d := range h.Entries {
		if i == 1 && h.Dropped > 0 {
			out = append(out, fmt.Sprintf("  … %d more", h.Dropped))
		}
		line := "  " + d.At.UTC().Format(time.RFC3339) + "  " + d.Summary()
		if d.Program != "" {
			line += " with " + d.Program
		}
		if d.Detail != "" {
			line += ": " + d.Detail
		}
		out = append(out, draw.Value(line)) // a line that an edited record adds could pass for a hint
	}
	return out
}
