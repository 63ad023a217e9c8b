// Package preview has the verbs that say in advance what a change of a workload does, before
// anything is written: plan, simulate and explain.
package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const planLong = `Preview the effect of a change of a workload before anything is written: whether pods
are updated in place or recreated, and why; which pods in which order and steps; how
many are unavailable at once; and how long it will take.

The current state is read from the cluster. With --against FILE it is read from a file:
then no kubeconfig is needed, and pods are made up unless --with has them. A plan that
cannot finish is refused, with the reason.

If -f or -k contain several workloads, there is a plan for each one that changes, in
their order; -o json is then a List, -o yaml a document for each, and --out a directory
with a file for each. --git takes both states from a repository, as 'kubectl kruise diff
--git' does: A..B, A...B, or A for A against the working tree, of one path or of its old
and its new name.`

const planExample = `  # what a new image would do
  kubectl kruise plan cloneset/web --image app=registry.example.com/web:2

  # can this change be made in place, and if not, why? From files alone
  kubectl kruise plan -f new.yaml --against old.yaml

  # a manifest, in steps, with a pause after the first; kept for the rollout
  kubectl kruise plan -f web.yaml --steps 1,10%,50%,100% --pause-after 1 --out plan.yaml

  # all workloads of an overlay that change, each plan in a file of its own
  kubectl kruise plan -k overlays/prod --out plans

  # in a pull request: from files alone, as a comment and as a picture
  kubectl kruise plan -f new/web.yaml --against old/web.yaml --pods 40 -o markdown
  kubectl kruise plan -f new/web.yaml --against old/web.yaml --pods 40 -o svg > plan.svg

  # a branch against where it began, as a comment on its pull request
  kubectl kruise plan --git origin/main...HEAD overlays/prod -o markdown

  # for reviewers without a terminal: one file for any browser
  kubectl kruise plan -k overlays/prod -o html > plan.html`

type planOptions struct {
	factory *factory.Factory
	planning.Options

	output  string
	out     string
	verbose bool
}

var planOutputs = []string{"text", "yaml", "json", "markdown", "svg", "html"}

// completeAndRun carries out a verb once its options are complete.
func completeAndRun(complete func(args []string) error, run func(context.Context) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := complete(args); err != nil {
			return err
		}
		return run(c.Context())
	}
}

// NewPlan returns the verb.
func NewPlan(f *factory.Factory) *cobra.Command {
	o := &planOptions{factory: f, Options: planning.Options{Maker: planning.Maker{Factory: f}, Preview: true}}
	c := &cobra.Command{
		Use:     "plan ([TYPE/NAME] (--image CONTAINER=IMAGE | -f FILE | -k DIR) | --git RANGE PATH)",
		Short:   "Preview the effect of a change, pod by pod",
		Long:    planLong,
		Example: planExample,
		RunE:    completeAndRun(o.complete, o.run),
	}
	o.AddFlags(c)
	o.AddGit(c)
	c.Flags().StringVarP(&o.output, "output", "o", planOutputs[0], "output format: "+strings.Join(planOutputs, ", "))
	c.Flags().StringVar(&o.out, "out", "", "file to write the plan into, for review and for the rollout; a directory for several workloads")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show every pod, every patch and every condition")
	command.Offer(c, "output", planOutputs...)
	c.ValidArgsFunction = resourcearg.CompleteNames(f)
	return c
}

func (o *planOptions) complete(args []string) error {
	if err := command.OneOf("output", o.output, planOutputs...); err != nil {
		return err
	}
	if ok, err := o.CompleteGit(args); ok {
		return err
	}
	if len(args) == 1 {
		if name, ok := resourcearg.ParseUnited(args[0]); ok {
			return o.CompleteUnited(name)
		}
	}
	return o.Complete(args)
}

// workloadPlan is the plan of a workload.
type workloadPlan struct {
	// name and manifest are those of one of several workloads.
	name     resourcearg.Name
	manifest *resource.Resource
	made     *planning.Made
	// digest is what 'rollout resume --approved' takes, of a plan for an object in a cluster; "" for any other.
	digest string
}

func (o *planOptions) run(ctx context.Context) error {
	work := o.factory.Working("planning")
	defer work.Stop()
	many, err := o.Each(ctx)
	if err != nil {
		return err
	}
	if many != nil {
		return o.runSeveral(ctx, many, work.Of(len(many), "workload"))
	}
	m, err := o.Make(ctx)
	if err != nil {
		return err
	}
	if o.out != "" {
		text, err := planfile.Write(m.Plan)
		if err == nil {
			err = emit.File(o.out, text)
		}
		if err != nil {
			return err
		}
		o.printNote("wrote %s", o.out)
	}
	return o.print(ctx, []workloadPlan{{made: m}}, func(w io.Writer, list []workloadPlan) error { return o.write(w, list[0]) })
}

// print writes plans to stdout through a buffer, and their digests as notes.
func (o *planOptions) print(ctx context.Context, list []workloadPlan, write func(io.Writer, []workloadPlan) error) error {
	for i := range list {
		if err := o.addDigest(ctx, &list[i]); err != nil {
			return err
		}
	}
	w := text.Buffered(o.factory.Streams.Out)
	if err := write(w, list); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range list {
		switch {
		case p.digest == "":
		case p.manifest == nil:
			o.printNote("digest: %s", p.digest)
		default:
			o.printNote("digest of %s: %s", p.name, p.digest)
		}
	}
	return nil
}

// printNote writes a line to stderr.
func (o *planOptions) printNote(format string, args ...any) {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, format+"\n", args...)
}

func (o *planOptions) addDigest(ctx context.Context, p *workloadPlan) error {
	if o.FromFiles() || len(p.made.Plan.Steps) == 0 {
		return nil
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return err
	}
	p.digest = planning.ApprovalDigests(&p.made.Plan, planning.ClusterIdentities(ctx, client, cfg))[0]
	return nil
}

// write writes one plan.
func (o *planOptions) write(w io.Writer, p workloadPlan) error {
	made, run := p.made.Plan, p.made.Predicted
	switch o.output {
	case "yaml":
		text, err := planfile.Write(made)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	case "json":
		v, err := planDocument(made)
		if err != nil {
			return err
		}
		return view.JSON(w, v)
	case "html":
		return o.writeHTML(w, []workloadPlan{p})
	case "svg":
		return svg.Draw(w, view.NewPlanPage(made, &run).Picture())
	}
	switch {
	case len(made.Steps) == 0:
		_, err := fmt.Fprintln(w, made.Change.Why)
		return err
	case o.output == "markdown":
		return view.NewPlanPage(made, &run).Markdown(w)
	}
	return view.Plan(w, made, &run.Summary, o.factory.OutStyle(o.verbose))
}

// writeHTML writes plans as one page.
func (o *planOptions) writeHTML(w io.Writer, list []workloadPlan) error {
	about := html.About{Version: version.Get().Version}
	var plans []html.Plan
	for _, p := range list {
		if !o.FromFiles() {
			about.At = p.made.At
		}
		run := &p.made.Predicted
		if len(p.made.Plan.Steps) == 0 {
			run = nil
		}
		plans = append(plans, html.Plan{Page: view.NewPlanPage(p.made.Plan, run).Place(p.made.Snapshot.Pods), Digest: p.digest})
	}
	return html.Plans(w, plans, about)
}

// planDocument is a plan as its file has it, as data.
func planDocument(p plan.Plan) (v any, err error) {
	text, err := planfile.Write(p)
	if err != nil {
		return nil, err
	}
	err = yaml.Unmarshal(text, &v)
	return v, err
}

// runSeveral plans every workload, and writes the plans of those that change. A plan
// that is refused keeps no other from being written.
func (o *planOptions) runSeveral(ctx context.Context, many []planning.One, work *factory.Work) error {
	var list []workloadPlan
	var errs resource.Errors
	if len(many) == 0 {
		o.printNote("there is no workload, and nothing to roll out")
	}
	for i, one := range many {
		one.Progress = work.Each(i, len(many))
		m, err := one.Make(ctx)
		_, absent := errors.AsType[*resourcearg.AbsentError](err)
		_, wrong := errors.AsType[*command.UsageError](err)
		switch {
		case wrong: // it would be the same for the others
			return err
		case absent:
			o.printNote("%s: does not exist yet: it is created, without a rollout", one.Name)
		case err != nil:
			errs.Add(withManifest(err, one.Manifest))
		case len(m.Plan.Steps) == 0:
			o.printNote("%s: %s", one.Name, m.Plan.Change.Why)
		default:
			list = append(list, workloadPlan{name: one.Name, manifest: one.Manifest, made: m})
		}
	}
	if o.output == "svg" && len(list) > 1 {
		errs.Add(command.Usagef("name one: "+list[0].name.String()+", for instance", "-o svg draws one plan, and these are %d", len(list)))
		return errs.Err()
	}
	err := o.keepSeveral(ctx, list)
	if err == nil {
		err = o.print(ctx, list, o.printSeveral)
	}
	if err != nil {
		errs.Add(err)
	}
	return errs.Err()
}

// withManifest adds to an error without a place whose plan it is about.
func withManifest(err error, manifest *resource.Resource) error {
	known, ok := err.(*resource.Error) //nolint:errorlint // one that is wrapped has a place already
	if !ok || known.File != "" || known.Object.Kind != "" {
		return err
	}
	out := *known
	out.File, out.Line, out.Object = manifest.Origin.File, manifest.Origin.Line, manifest.ID()
	return &out
}

// keepSeveral writes each plan into a file of the folder of --out. Files that an
// earlier run left there go, unless they were edited.
func (o *planOptions) keepSeveral(ctx context.Context, list []workloadPlan) error {
	if o.out == "" {
		return nil
	}
	objects := make([]*resource.Resource, len(list))
	for i, p := range list {
		objects[i] = p.manifest
	}
	docs := make([]emit.Document, len(list))
	for i, name := range emit.Names(objects) {
		text, err := planfile.Write(list[i].made.Plan)
		if err != nil {
			return err
		}
		docs[i] = emit.Document{Name: name + ".yaml", Body: text}
	}
	kept, err := emit.Folders(ctx, o.out, docs, o.Limits())
	for _, path := range kept {
		o.printNote("kept %s: it was edited", path)
	}
	if err != nil {
		return &resource.Error{Err: err, Hint: "of several workloads, --out names a folder"}
	}
	for _, d := range docs {
		o.printNote("wrote %s/%s", o.out, d.Name)
	}
	return nil
}

// printSeveral writes a List, a page, or one plan after the other with what separates them.
func (o *planOptions) printSeveral(w io.Writer, list []workloadPlan) error {
	switch o.output {
	case "json":
		items := make([]any, len(list))
		for i, p := range list {
			var err error
			if items[i], err = planDocument(p.made.Plan); err != nil {
				return err
			}
		}
		return view.JSON(w, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	case "html":
		return o.writeHTML(w, list)
	}
	between := map[string]string{"yaml": "---\n", "text": "\n\n", "markdown": "\n"}[o.output]
	for i, p := range list {
		if i > 0 {
			if _, err := io.WriteString(w, between); err != nil {
				return err
			}
		}
		if err := o.write(w, p); err != nil {
			return err
		}
	}
	return nil
}
