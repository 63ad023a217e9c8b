// Package ui has the verbs that show the terminal interface: ui on a cluster, and demo on a
// simulated one. What its keys do on a cluster is the same code as the verbs of rollout.
package ui

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

const uiLong = `Show the workloads of a namespace, or of all, with their status: which are failing or
wait for approval, and how far each rollout is; and promote, pause, roll back, restart
and scale them. ? shows the keys. Every change asks for confirmation, and names the
context, the namespace and the effect.

With TYPE/NAME it opens on that workload. Rollouts that are started or resumed here are
run by this program until you quit, after a confirmation; "rollout resume" continues
them from anywhere. Rollouts that run elsewhere are shown, and continue after you quit.

":ctx NAME" switches to another context of the kubeconfig, ":ns NAME" to another
namespace. The terminal's bell rings when a rollout fails or waits for approval.

In a context whose name matches --production, every change requires typing the name;
$KUBECTL_KRUISE_PRODUCTION is the default.`

const uiExample = `  # the namespace of the context, or all of them
  kubectl kruise ui
  kubectl kruise ui -A

  # one rollout, read-only
  kubectl kruise ui cloneset/web -n shop --read-only

  # a plan before it runs, with a simulation from the current state of the cluster
  kubectl kruise ui --plan web-plan.yaml

  # the workloads of a team, with contexts in which changes require typing a name
  kubectl kruise ui -A -l team=checkout --production 'prod|live'`

type uiOptions struct {
	factory *factory.Factory
	look
	all, readOnly bool
	production    string
	plan          string
	shown         terminal.Appearance
}

// productionVariable is the environment's --production.
const productionVariable = "KUBECTL_KRUISE_PRODUCTION"

// usualProduction is the name of production where none is given.
const usualProduction = "prod"

// NewUI returns the verb.
func NewUI(f *factory.Factory) *cobra.Command {
	o := &uiOptions{factory: f}
	c := &cobra.Command{
		Use: "ui [TYPE/NAME]", Aliases: []string{"top"}, Short: "Watch and manage rollouts in a terminal interface", Long: uiLong, Example: uiExample,
		RunE: func(c *cobra.Command, args []string) error {
			first, err := o.complete(args)
			if err != nil {
				return err
			}
			return o.run(c.Context(), first)
		},
		ValidArgsFunction: resourcearg.CompleteNames(f),
	}
	fl := c.Flags()
	fl.BoolVarP(&o.all, "all-namespaces", "A", false, "show workloads of all namespaces, and SidecarSets")
	fl.StringVarP(&o.selector, "selector", "l", "", "show only workloads that this label selector matches")
	fl.BoolVar(&o.readOnly, "read-only", false, "disable actions that change the cluster")
	fl.StringVar(&o.production, "production", f.Streams.Getenv(productionVariable), "regular expression of contexts in which changes require typing a name (default \""+usualProduction+"\")")
	fl.StringVar(&o.plan, "plan", "", "plan file of 'kubectl kruise plan' to open")
	fl.StringVar(&o.stateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
	o.shown.AddFlags(fl)
	return c
}

func (o *uiOptions) complete(args []string) (first string, err error) {
	if _, err := labels.Parse(o.selector); err != nil {
		return "", command.Usagef("for instance team=checkout", "--selector: %w", err)
	}
	if len(args) > 1 {
		return "", command.Usagef("for instance cloneset/web", "give one TYPE/NAME at most")
	}
	switch {
	case len(args) > 0 && o.plan != "":
		return "", command.Usagef("leave one of them out", "a plan names its workload itself")
	case o.plan == "-":
		return "", command.Usagef("write the plan to a file", "--plan -: stdin is the keyboard")
	}
	return strings.Join(args, ""), nil
}

func (o *uiOptions) run(ctx context.Context, first string) error {
	if err := terminal.Check(o.factory.Streams, "'kubectl kruise get' and 'kubectl kruise rollout status' print lines"); err != nil {
		return err
	}
	open, err := o.opening(ctx, first)
	if err != nil {
		return err
	}
	screens := tui.Options{ReadOnly: o.readOnly, First: open, Contexts: o.factory.Contexts()}
	if err := o.shown.Complete(o.factory.Streams.Getenv, &screens); err != nil {
		return err
	}
	for f := o.factory; ; {
		next, err := o.in(ctx, f, screens)
		if err != nil || next == "" {
			return err
		}
		f, screens.First = o.factory.InContext(next), screen.Open{}
	}
}

// in shows the screens on the cluster of a context, and returns the context to go to next.
func (o *uiOptions) in(ctx context.Context, f *factory.Factory, screens tui.Options) (next string, err error) {
	where, err := whereFrom(f, o.production, o.all)
	if err != nil {
		return "", err
	}
	if screens.First.Plan != nil && !o.all {
		where.Namespace = screens.First.Ref.Namespace
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.Spare()
	f.Silent = true
	var l *liveSource
	inTime(f.Streams.Err, "connecting to "+where.Context+" ...", func() {
		l, err = connect(ctx, f, where, o.look, live.New(ctx, f, o.stateNamespace))
	})
	if err != nil {
		return "", err
	}
	return l.show(ctx, f, screens)
}

// show runs the screens until they are left. What was done without is reported afterwards,
// when there is room for it.
func (l *liveSource) show(ctx context.Context, f *factory.Factory, o tui.Options) (next string, err error) {
	o.Source, o.Actions, o.Connection = l, l, f
	next, err = terminal.Run(ctx, f.Streams, f.Color, o)
	var skipped []string
	inTime(f.Streams.Err, "releasing rollouts that run here, so that others can resume them ...", func() { skipped = l.Close() })
	if err != nil { // which tells more than what was done without until then
		return next, err
	}
	for _, text := range skipped {
		_, _ = fmt.Fprintf(f.Streams.Err, "warning: not all could be shown: %s\n", text)
	}
	return next, nil
}

// whereFrom is the context and namespace that the screens show.
func whereFrom(f *factory.Factory, production string, all bool) (world.Where, error) {
	if production == "" {
		production = usualProduction
	}
	pattern, err := regexp.Compile("(?i)" + production)
	if err != nil {
		return world.Where{}, command.Usagef("a regular expression, such as 'prod|live'", "--production: %w", err)
	}
	where := world.Where{Context: contextOf(f)}
	if where.Context == "" {
		where.Context, where.InCluster = "in-cluster", true
	}
	where.Production = pattern.MatchString(where.Context)
	if !all {
		where.Namespace, err = f.NamespaceOrDefault()
	}
	return where, err
}

// contextOf names the context that is used; "" without a kubeconfig, in a pod of the cluster.
func contextOf(f *factory.Factory) string {
	if name := f.Flags.Context; name != nil && *name != "" {
		return *name
	}
	if cfg, err := f.Flags.ToRawKubeConfigLoader().RawConfig(); err == nil && cfg.CurrentContext != "" {
		return cfg.CurrentContext
	}
	return ""
}

// opening is the screen of a workload that was named, or of a plan; none without.
func (o *uiOptions) opening(ctx context.Context, arg string) (screen.Open, error) {
	switch {
	case o.plan != "":
		return planScreen(o.plan)
	case arg == "":
		return screen.Open{}, nil
	}
	ref, err := findWorkload(ctx, o.factory, arg)
	return screen.Open{Screen: screen.Rollout, Ref: ref}, err
}

// planScreen is the screen of a plan in a file.
func planScreen(file string) (screen.Open, error) {
	p, err := planning.ReadPlan(file, nil)
	t := p.Target
	ref := cluster.Ref{Group: schema.FromAPIVersionAndKind(t.APIVersion, t.Kind).Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
	return screen.Open{Screen: screen.Plan, Ref: ref, Plan: &p}, err
}

// withoutMessages is a factory whose streams go nowhere.
func withoutMessages(f *factory.Factory) *factory.Factory {
	return f.With(factory.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Environ: f.Streams.Environ})
}

// quietly is how long something may take without a word.
const quietly = 500 * time.Millisecond

// inTime does something, and says what is waited for when that takes long: a slow cluster takes seconds to answer, and one
// that does not is asked for some seconds to free the rollouts that were carried out here.
func inTime(said io.Writer, what string, do func()) {
	told := make(chan struct{})
	timer := time.AfterFunc(quietly, func() {
		defer close(told)
		_, _ = fmt.Fprintln(said, what)
	})
	do()
	if !timer.Stop() {
		<-told
	}
}
