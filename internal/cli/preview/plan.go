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

// NewPlan returns the verb.
func NewPlan(f *factory.Factory) *cobra.Command {
	o := &planOptions{factory: f, Options: planning.Options{Factory: f, Preview: true}}
	c := &cobra.Command{
		Use:     "plan ([TYPE/NAME] (--image CONTAINER=IMAGE | -f FILE | -k DIR) | --git RANGE PATH)",
		Short:   "Preview the effect of a change, pod by pod",
		Long:    planLong,
		Example: planExample,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
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
	digest, err := o.digest(ctx, m)
	if err != nil {
		return err
	}
	if err := o.print(func(w io.Writer) error { return o.write(w, m, digest) }); err != nil {
		return err
	}
	if digest != "" {
		o.printNote("digest: %s", digest)
	}
	return nil
}

// print writes to stdout through a buffer.
func (o *planOptions) print(write func(io.Writer) error) error {
	w := text.Buffered(o.factory.Streams.Out)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// printNote writes a line to stderr.
func (o *planOptions) printNote(format string, args ...any) {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, format+"\n", args...)
}

// digest is what 'rollout resume --approved' takes, of a plan for an object in a cluster;
// "" for any other.
func (o *planOptions) digest(ctx context.Context, m *planning.Made) (string, error) {
	if o.FromFiles() || len(m.Plan.Steps) == 0 {
		return "", nil
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return "", err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return "", err
	}
	return planning.ApprovalDigests(&m.Plan, planning.ClusterIdentities(ctx, client, cfg))[0], nil
}

// write writes one plan; digest is "" where no cluster was asked.
func (o *planOptions) write(w io.Writer, m *planning.Made, digest string) error {
	switch o.output {
	case "yaml", "json":
		return writeDocument(w, m.Plan, o.output == "json")
	}
	if o.output == "html" {
		return o.writeHTML(w, []planReport{{made: m, digest: digest}})
	}
	if len(m.Plan.Steps) == 0 && o.output != "svg" {
		_, err := fmt.Fprintln(w, m.Plan.Change.Why)
		return err
	}
	line := m.Predicted
	switch o.output {
	case "markdown":
		return view.PlanMarkdown(w, m.Plan, &line.Summary)
	case "svg":
		return svg.Draw(w, view.Picture(m.Plan, line))
	}
	return view.Plan(w, m.Plan, &line.Summary, o.factory.OutStyle(o.verbose))
}

// planReport is a plan with its digest.
type planReport struct {
	made   *planning.Made
	digest string
}

// writeHTML writes plans as one page.
func (o *planOptions) writeHTML(w io.Writer, list []planReport) error {
	about := html.About{Version: version.Get().Version}
	var plans []html.Plan
	for _, r := range list {
		if !o.FromFiles() {
			about.At = r.made.At
		}
		run := &r.made.Predicted
		if len(r.made.Plan.Steps) == 0 {
			run = nil
		}
		plans = append(plans, html.Plan{Page: view.NewPlanPage(r.made.Plan, run).Place(r.made.Snapshot.Pods), Digest: r.digest})
	}
	return html.Plans(w, plans, about)
}

// writeDocument writes a plan as its file has it, or the very document as JSON.
func writeDocument(w io.Writer, p plan.Plan, asJSON bool) error {
	text, err := planfile.Write(p)
	switch {
	case err != nil:
		return err
	case !asJSON:
		_, err = w.Write(text)
		return err
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return err
	}
	return view.JSON(w, v)
}

// plannedWorkload is the plan of one of several workloads.
type plannedWorkload struct {
	planning.One
	made *planning.Made
}

// runSeveral plans every workload, and writes the plans of those that change. A plan
// that is refused keeps no other from being written.
func (o *planOptions) runSeveral(ctx context.Context, many []planning.One, work *factory.Work) error {
	var list []plannedWorkload
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
			list = append(list, plannedWorkload{one, m})
		}
	}
	if err := o.writeSeveral(ctx, list); err != nil {
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

func (o *planOptions) writeSeveral(ctx context.Context, list []plannedWorkload) error {
	if o.output == "svg" && len(list) > 1 {
		return command.Usagef("name one: "+list[0].Name.String()+", for instance", "-o svg draws one plan, and these are %d", len(list))
	}
	if err := o.keepSeveral(list); err != nil {
		return err
	}
	digests := make([]string, len(list))
	for i, p := range list {
		var err error
		if digests[i], err = o.digest(ctx, p.made); err != nil {
			return err
		}
	}
	if err := o.print(func(w io.Writer) error { return o.printSeveral(w, list, digests) }); err != nil {
		return err
	}
	for i, p := range list {
		if digests[i] != "" {
			o.printNote("digest of %s: %s", p.Name, digests[i])
		}
	}
	return nil
}

// keepSeveral writes each plan into a file of the folder of --out. Files that an
// earlier run left there go, unless they were edited.
func (o *planOptions) keepSeveral(list []plannedWorkload) error {
	if o.out == "" {
		return nil
	}
	objects := make([]*resource.Resource, len(list))
	for i, p := range list {
		objects[i] = p.Manifest
	}
	docs := make([]emit.Document, len(list))
	for i, name := range emit.Names(objects) {
		text, err := planfile.Write(list[i].made.Plan)
		if err != nil {
			return err
		}
		docs[i] = emit.Document{Name: name + ".yaml", Body: text}
	}
	if err := emit.Folders(o.out, docs, emit.DirOptions{Kept: func(path string) { o.printNote("kept %s: it was edited", path) }, Limits: o.Limits()}); err != nil {
		return &resource.Error{Err: err, Hint: "of several workloads, --out names a folder"}
	}
	for _, d := range docs {
		o.printNote("wrote %s/%s", o.out, d.Name)
	}
	return nil
}

// printSeveral writes a List, a page, or one plan after the other with what separates them.
func (o *planOptions) printSeveral(w io.Writer, list []plannedWorkload, digests []string) error {
	switch o.output {
	case "json":
		return writeList(w, list)
	case "html":
		var all []planReport
		for i, p := range list {
			all = append(all, planReport{p.made, digests[i]})
		}
		return o.writeHTML(w, all)
	}
	between := map[string]string{"yaml": "---\n", "text": "\n\n", "markdown": "\n"}[o.output]
	for i, p := range list {
		if i > 0 {
			if _, err := io.WriteString(w, between); err != nil {
				return err
			}
		}
		if err := o.write(w, p.made, digests[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeList writes the plans as a List in JSON.
func writeList(w io.Writer, list []plannedWorkload) error {
	items := make([]any, len(list))
	for i, p := range list {
		text, err := planfile.Write(p.made.Plan)
		if err == nil {
			err = yaml.Unmarshal(text, &items[i])
		}
		if err != nil {
			return err
		}
	}
	return view.JSON(w, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
