package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const lintLong = `Report what Kruise's webhooks would reject, and risky settings that they accept, from
files alone, or with --live for the objects of a cluster.

With --against the objects are updates of those: immutable fields and the effect on
running pods are checked, too. --with names objects that exist in the cluster
(targets, running pods, other sets) and are not checked themselves. A rule is
disabled with --disable, or for one object with the annotation
kubectl-kruise.dev/lint-ignore: RULE,RULE.

--live checks the objects of a namespace (-n) or of all (-A), narrowed by -l, with the
same rules; related objects are read from the cluster, too. Nothing is written. Objects
that a controller created are skipped, and so are cluster-scoped objects unless -A is
given; a problem names its object instead of a line.

--kruise-version names the release of Kruise to check against. Without it, and without a
cluster, that is the newest one: a version or a field that only other releases accept is
then a warning, which names them.

The exit code is 1 when there is an error, and with --fail-on warning when there
is a warning.`

const lintExample = `  # a directory
  kubectl kruise lint -f manifests/ -R

  # a change, for a pull request
  git show main:web.yaml > old.yaml && kubectl kruise lint -f web.yaml --against old.yaml -o github

  # can these be deleted?
  kubectl kruise lint -f web.yaml --operation delete --with pods.yaml

  # what the cluster holds, in all namespaces
  kubectl kruise lint --live -A

  # what would Kruise 1.8 reject or drop?
  kubectl kruise lint -f web.yaml --kruise-version 1.8

  # all rules
  kubectl kruise lint --rules`

type lintOptions struct {
	factory *factory.Factory

	input.ManifestFlags

	old, with []string

	operation string
	severity  string
	failOn    string
	disable   []string
	known     bool
	rules     bool
	output    string
	kruise    installation.Flag
	live      lintLive

	// checked is how many objects were checked.
	checked int
}

var lintOutputs = []string{"text", "json", "sarif", "github"}

var severities = []string{string(engine.Error), string(engine.Warning), string(engine.Info)}

// NewLint returns the verb that says what is wrong with Kruise objects, of files or of
// a cluster.
func NewLint(f *factory.Factory) *cobra.Command {
	o := &lintOptions{factory: f}
	c := &cobra.Command{
		Use:     "lint (-f FILE | -k DIR | --live)",
		Short:   "Check Kruise objects before applying them",
		Long:    lintLong,
		Example: lintExample,
		Args:    command.NoArgs("name files with -f, a kustomization with -k"),
		RunE:    func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	fl := c.Flags()
	o.Add(c, filesText, kustomizationText)
	fl.StringSliceVar(&o.old, "against", nil, "file or directory with the current state of the objects; - is standard input")
	fl.StringSliceVar(&o.with, "with", nil, "file with objects that exist in the cluster: used, not checked; - is standard input")
	fl.StringVar(&o.operation, "operation", "", "operation to check: create, update or delete (default: update for objects in --against, else create)")
	fl.StringVar(&o.severity, "severity", severities[2], "lowest severity to show: "+strings.Join(severities, ", "))
	fl.StringVar(&o.failOn, "fail-on", severities[0], "lowest severity that makes the exit code 1: "+strings.Join(severities, ", "))
	fl.StringSliceVar(&o.disable, "disable", nil, "IDs of rules to disable")
	fl.BoolVar(&o.known, "complete", false, "assume that objects which are neither in the input nor in --with do not exist")
	fl.BoolVar(&o.rules, "rules", false, "list all rules")
	fl.StringVarP(&o.output, "output", "o", lintOutputs[0], "output format: "+strings.Join(lintOutputs, ", "))
	o.Limits.Add(c)
	o.kruise.Add(c, "that of --live, or of ClusterFacts in --with, else the newest")
	o.live.addFlags(c)
	completeLint(c)
	return c
}

// completeLint registers what the shell may offer.
func completeLint(c *cobra.Command) {
	var ids []string
	for _, r := range engine.Rules() {
		ids = append(ids, r.ID)
	}
	for flag, values := range map[string][]string{
		"output": lintOutputs, "severity": severities, "fail-on": severities, "operation": lintOperations, "disable": ids,
	} {
		command.Offer(c, flag, values...)
	}
	for _, flag := range []string{"with", "against"} {
		_ = c.MarkFlagFilename(flag, "yaml", "yml", "json")
	}
}

var lintOperations = []string{string(check.Create), string(check.Update), string(check.Delete)}

func (o *lintOptions) validate() error {
	switch {
	case o.live.given():
		if err := o.live.validate(o); err != nil {
			return err
		}
	case !o.Given():
		return command.Usagef("give -f FILE, -f DIRECTORY, -f -, -k DIRECTORY, or --live", "must specify one of -f and -k")
	}
	if err := o.validChoices(); err != nil {
		return err
	}
	if err := o.Complete(); err != nil {
		return err
	}
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	return command.OneStdin(slices.Concat(o.Files, o.old, o.with)...)
}

// validChoices refuses values that their flags do not know.
func (o *lintOptions) validChoices() error {
	if o.operation != "" {
		if err := command.OneOf("operation", o.operation, lintOperations...); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		flag, value string
		legal       []string
	}{
		{"output", o.output, lintOutputs}, {"severity", o.severity, severities}, {"fail-on", o.failOn, severities},
	} {
		if err := command.OneOf(c.flag, c.value, c.legal...); err != nil {
			return err
		}
	}
	for _, id := range o.disable {
		if engine.Fixed(id) {
			return command.Usagef("what cannot be read is not looked at", "--disable: %s cannot be turned off", id)
		}
		if !slices.ContainsFunc(engine.Rules(), func(r engine.Rule) bool { return r.ID == id }) {
			return command.Usagef("'kubectl kruise lint --rules' lists all", "--disable: there is no rule %q", id)
		}
	}
	return nil
}

func (o *lintOptions) run(ctx context.Context) error {
	if o.rules {
		return o.list()
	}
	if err := o.validate(); err != nil {
		return err
	}
	loading := "loading manifests"
	if o.live.on {
		loading = "reading the cluster"
	}
	work := o.factory.Working("%s", loading)
	all, err := o.problems(work.Reported(ctx))
	work.Stop()
	if err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(all), func(p engine.Problem) bool { return p.Severity.Rank() < engine.Severity(o.severity).Rank() })
	if err := o.write(view.Problems(engine.Listed(shown))); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(p engine.Problem) bool { return p.Severity.Rank() >= engine.Severity(o.failOn).Rank() }) {
		return &resource.Error{Err: errors.New("lint found " + view.Problems(all).Count())}
	}
	if o.output == "text" && len(shown) == 0 {
		o.clean(len(all) > 0)
	}
	return nil
}

// clean reports on stderr that nothing was found.
func (o *lintOptions) clean(hidden bool) {
	text := "no problems"
	if hidden {
		text += " of severity " + o.severity + " or higher"
	}
	_, _ = fmt.Fprintln(o.factory.Streams.Err, text+" in "+counted.Of(o.checked, "object"))
}

func (o *lintOptions) write(p view.Problems) error {
	w := text.Buffered(o.factory.Streams.Out)
	var err error
	switch o.output {
	case "json":
		err = p.JSON(w)
	case "sarif":
		err = p.SARIF(w, engine.Rules(), version.Get().Version)
	case "github":
		err = p.GitHub(w)
	default:
		err = p.Text(w, o.factory.OutStyle(false))
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

func (o *lintOptions) list() error {
	w := text.Buffered(o.factory.Streams.Out)
	if err := view.Rules(w, engine.Rules(), o.factory.OutStyle(false)); err != nil {
		return err
	}
	return w.Flush()
}

// problems are those of the cluster, or of the files.
func (o *lintOptions) problems(ctx context.Context) ([]engine.Problem, error) {
	if o.live.on {
		return o.inCluster(ctx)
	}
	q, faults := o.request(ctx)
	o.checked = len(q.Objects)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	checking := o.factory.Working("checking").Of(o.checked, "object")
	defer checking.Stop()
	q.Progress = checking.Progress()
	if faults == nil {
		return engine.Run(ctx, q), ctx.Err()
	}
	q.Known = false // what could not be read may exist
	found := slices.DeleteFunc(engine.Run(ctx, q), func(p engine.Problem) bool { return slices.Contains(finders, p.Rule) })
	return append(engine.Unread(faults), found...), ctx.Err()
}

// request reads the files. With faults it holds what can be looked at without the rest.
func (o *lintOptions) request(ctx context.Context) (engine.Request, error) {
	q := engine.Request{Operation: check.Operation(o.operation), Namespace: o.factory.Namespace(), Disabled: o.disable, Known: o.known, Limits: o.Limits.Stage()}
	var faults resource.Errors
	var err error
	q.Objects, err = load.Readable(ctx, o.Load(load.Options{
		Stdin: o.factory.Streams.In, Namespace: q.Namespace, Except: slices.Concat(o.with, o.old),
		Undecided: &q.Undecided,
	}))
	faults.Add(err)
	q.Context, err = load.Context(ctx, o.with, o.factory.Streams.In)
	faults.Add(err)
	facts, err := render.ReadClusterFacts(q.Context)
	faults.Add(err)
	q.Kruise = o.kruise.Or(facts.Kruise)
	installation.Warn(o.factory.Streams.Err, q.Kruise)
	if len(o.old) == 0 {
		return q, faults.Err()
	}
	q.Old, err = load.Load(ctx, o.Limits.Load(load.Options{Files: o.old, Recursive: true, Stdin: o.factory.Streams.In, Namespace: q.Namespace}))
	if err != nil {
		q.Objects = nil // it is not known which of them are updates
	}
	faults.Add(err)
	return q, faults.Err()
}
