// Package render has the verbs that expand Kruise objects of files into native resources:
// render, the KRM function fn, and argocd, which Argo CD's repo server runs. With --patches-dir
// they also write the patches that bring the old state to the new one, step by step. They open
// a cluster only for --live and --target auto. Beside them are the other verbs of manifests: convert,
// lint and diff.
package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const renderLong = `Expand OpenKruise objects into native Kubernetes resources, from files alone.

Unchanged objects are emitted byte for byte. Approximations and losses are reported on
stderr; with --strict a loss is an error. Configuration of this tool in the input, such
as a RenderConfig, is not emitted, and reported.`

const renderExample = `  # a directory, to standard output
  kubectl kruise render -f manifests/ -R

  # a kustomization, built in process; say why each sidecar went where
  kubectl kruise render -k overlays/prod --explain > prod.yaml

  # facts of the cluster that the files do not hold
  kubectl kruise render -f app.yaml --with namespaces.yaml

  # keep Kruise workloads, only put the sidecars in
  kubectl kruise render -f app.yaml --target kruise --expand SidecarSet

  # sidecars by a policy of the API server, for pods from elsewhere, too
  kubectl kruise render -f sidecars.yaml --sidecarset-as admission

  # one file per object, with a kustomization.yaml that lists them
  kubectl kruise render -f app.yaml --out out --output-kustomization

  # one folder per subset, for subsets that have a cluster each
  kubectl kruise render -f app.yaml --out out --split-by subset

  # from an old state to a new one: patches to send by hand, step by step
  kubectl kruise render -f new.yaml --against old.yaml --target kruise --patches-dir patches --steps 1,50%,100%

  # a partition without Kruise: a stable and a canary Deployment
  kubectl kruise render -f new.yaml --against old.yaml`

// NewRender returns the verb.
func NewRender(f *factory.Factory) *cobra.Command {
	o := &renderOptions{streamOptions: streamOptions{factory: f}}
	c := &cobra.Command{
		Use:     "render (-f FILE | -k DIR)",
		Short:   "Expand Kruise objects into native Kubernetes resources",
		Long:    renderLong,
		Example: renderExample,
		Args:    command.NoArgs("name files with -f, a kustomization with -k"),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().NFlag() == 0 && inArgoCD(f) {
				return generateForArgoCD(c.Context(), f, &o.Limits)
			}
			return o.run(c.Context())
		},
	}
	o.addFlags(c)
	completeFlags(c)
	return c
}

// run is the whole story: load, render, say what was found, emit.
func (o *renderOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	loading := o.factory.Working("loading manifests")
	defer loading.Stop()
	stream, err := o.readManifests(loading.Reported(ctx))
	if err != nil {
		return err
	}
	if err := o.needsBase(stream); err != nil {
		return err
	}
	count := len(stream)
	rendering := o.factory.Working("rendering").Of(count, "object")
	defer rendering.Stop()
	opt, err := o.engineOptions(ctx, stream)
	if err != nil {
		return err
	}
	opt.Progress = rendering.Progress()
	// Patches bring one state to another: what is left out would be deleted.
	opt.LeaveOut = o.patchesDir == ""
	res, err := engine.Render(ctx, stream, opt)
	if err != nil {
		return err
	}
	if err := o.printFindings(count, res); err != nil {
		return err
	}
	// A folder would lose the file of an object that is left out, and a cluster the object.
	whole := o.outputDir != "" || len(res.Resources) == 0
	left := leftOut(res.Findings, whole)
	if left != nil && whole {
		return left
	}
	if err := o.judge(res); err != nil {
		return err
	}
	if err := o.writeSequences(ctx, opt, res); err != nil {
		return err
	}
	if err := o.emit(ctx, res.Resources); err != nil {
		return err
	}
	return left
}

// refused reports whether a finding says that an object could not be rendered, and is not accepted.
func refused(f finding.Finding) bool { return f.Severity == finding.Error && !f.Accepted }

// leftOut are the errors of objects that could not be rendered, and how to accept them; whole is
// whether nothing is written because of them.
func leftOut(list []finding.Finding, whole bool) error {
	rest := "the rest is written"
	if whole {
		rest = "nothing is written"
	}
	var errs resource.Errors
	ids := map[string]bool{}
	objects := map[resource.ID]bool{}
	for _, f := range list {
		if refused(f) {
			ids[f.ID], objects[f.Object] = true, true
			errs.Add(&resource.Error{File: f.File, Line: f.Line, Object: f.Object, Field: f.Field, Err: errors.New(f.Message), Hint: f.Action})
		}
	}
	if len(errs) == 0 {
		return nil
	}
	errs.Add(&resource.Error{
		Err:  fmt.Errorf("%s could not be rendered", counted.Of(len(objects), "object")),
		Hint: rest + "; --accept " + strings.Join(slices.Sorted(maps.Keys(ids)), ",") + " accepts that",
	})
	return errs.Err()
}

// applyAccepted marks the findings that were reviewed, and notes what is accepted and no longer found.
func (o *renderOptions) applyAccepted(res *engine.Result) error {
	a := finding.Acceptance{IDs: o.accept}
	if o.baseline != "" {
		b, err := load.File(o.baseline, o.factory.Streams.In, 0)
		if err != nil {
			return err
		}
		if a.Baseline, err = view.ReadBaseline(b); err != nil {
			return &resource.Error{File: o.baseline, Err: err}
		}
	}
	ids, baseline := a.Apply(res.Findings)
	for _, id := range ids {
		_, _ = fmt.Fprintf(o.noted(), "note: --accept %s: there is no such finding any more\n", id)
	}
	for _, f := range baseline {
		_, _ = fmt.Fprintf(o.noted(), "note: %s: there is no finding %s of %s any more\n", o.baseline, f.ID, f.Object)
	}
	noteStale(o.noted(), res.Stale)
	return nil
}

// noteStale names what annotations accept and is not found any more.
func noteStale(w io.Writer, stale []finding.Finding) {
	for _, f := range stale {
		at := resource.Origin{File: f.File, Line: f.Line}
		_, _ = fmt.Fprintf(w, "note: %s: %s: %s: there is no finding %s any more\n", at, f.Object, f.Field, f.ID)
	}
}

// judge refuses a result that must not be emitted.
func (o *renderOptions) judge(res *engine.Result) error {
	if len(res.Resources) == 0 && (o.patchesDir == "" || len(res.Sequences) == 0) && !o.allowEmpty {
		return &resource.Error{Err: errors.New("nothing is left to emit"), Hint: emptyOutputHint}
	}
	if o.strict && finding.Worst(res.Findings).Rank() >= finding.Lost.Rank() {
		hint := "the findings above name each field and what to do"
		switch {
		case o.quiet:
			hint = "without --quiet the findings are named; -v names each field and what to do"
		case !o.long():
			hint = "-v names each field and what to do; --accept, an annotation or --baseline accept what was reviewed"
		}
		return &resource.Error{Err: errors.New("something is lost, and --strict was given"), Hint: hint}
	}
	return nil
}

// kubernetesVersion is that of the flag, 0 without it.
func (o *renderOptions) kubernetesVersion() (int, error) {
	if o.kubernetes == "" {
		return 0, nil
	}
	return stage.ParseKubernetes(o.kubernetes)
}

// facts are the objects of --with and those that --live reads. For --target auto
// a cluster is asked what it is, unless --with tells.
func (o *renderOptions) facts(ctx context.Context, stream []*resource.Resource, opt engine.Options) ([]*resource.Resource, error) {
	given, err := load.Context(ctx, o.with, o.factory.Streams.In)
	if err != nil {
		return nil, err
	}
	scope := clusterread.FactScope{Stream: slices.Concat(stream, given), Namespace: opt.Namespace, Now: true}
	if scope.Stream == nil {
		scope.Stream = []*resource.Resource{}
	}
	if !o.live {
		// What is wrong with the facts is reported when they are used.
		known, _ := engine.ReadClusterFacts(given)
		if opt.Target != engine.Auto || len(known.APIVersions) > 0 {
			return given, nil
		}
		scope.Kinds = []string{engine.ClusterFactsKind}
	}
	read, err := o.ask(ctx, scope)
	return append(given, read...), err
}

// ask reads from the cluster, and says on stderr what it may not.
func (o *renderOptions) ask(ctx context.Context, scope clusterread.FactScope) ([]*resource.Resource, error) {
	cluster, err := clusterread.Connect(o.factory)
	if err != nil {
		return nil, err
	}
	res, err := clusterread.ReadFacts(ctx, cluster, scope)
	if err != nil {
		return nil, err
	}
	for _, s := range res.Skipped {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: continuing without %s\n", s)
	}
	return res.Context, nil
}

// printFindings tells on stderr (and in the report) what was found.
func (o *renderOptions) printFindings(in int, res *engine.Result) error {
	if err := o.applyAccepted(res); err != nil {
		return err
	}
	if err := o.writeReport(in, len(res.Resources), res.Findings, res.Explanations); err != nil {
		return err
	}
	w := text.Buffered(o.factory.Streams.Err)
	st := o.factory.ErrStyle()
	if o.opt.Explain {
		if err := view.Explanations(w, res.Explanations, st); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w)
	}
	if !o.quiet {
		shown := slices.DeleteFunc(slices.Clone(res.Findings), refused) // they are errors of the command
		if err := o.writeFindings(w, shown, st); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w, view.Summary(in, len(res.Resources), res.Findings))
	}
	return w.Flush()
}

// long reports whether findings are told one by one, with what to do.
func (o *renderOptions) long() bool { return o.verbose > 0 || o.opt.Explain }

func (o *renderOptions) writeFindings(w io.Writer, list []finding.Finding, st view.Style) error {
	if o.long() {
		return view.Findings(w, list, o.verbose > 0, st)
	}
	return view.FindingIDs(w, list, "-v tells where each is, and what to do", st)
}

func (o *renderOptions) emit(ctx context.Context, list []*resource.Resource) error {
	if o.order == "apply" {
		list = emit.ApplyOrder(list)
	}
	if o.outputDir != "" {
		opt := o.dirOptions()
		opt.Kustomization = o.kustomization
		if o.splitBy != "" {
			opt.Folders = emit.SubsetFolders(subsetsOf(list))
		}
		kept, err := emit.Dir(ctx, o.outputDir, list, opt)
		o.printKept(kept)
		if err != nil || o.splitBy == "" {
			return err
		}
		return o.reportFolders(opt.Folders)
	}
	return o.print(ctx, list)
}

// splittable refuses --split-by where it could not do what it says.
func (o *renderOptions) splittable() error {
	if o.splitBy == "" {
		return nil
	}
	if err := command.OneOf("split-by", o.splitBy, flagChoices()["split-by"]...); err != nil {
		return err
	}
	if o.outputDir == "" {
		return command.Usagef("give --out DIR", "--split-by %s needs a directory", o.splitBy)
	}
	if o.opt.Target != engine.Kruise || o.expands(kruise.KindUnitedDeployment) || o.expands(kruise.KindWorkloadSpread) {
		return nil
	}
	return command.Usagef("give --expand UnitedDeployment or --expand WorkloadSpread, too",
		"--split-by %s finds no subsets: --target kruise keeps every UnitedDeployment and WorkloadSpread whole", o.splitBy)
}

// expands reports whether --expand names the kind, in any case.
func (o *renderOptions) expands(kind string) bool {
	return slices.ContainsFunc(o.opt.Expand, func(k string) bool { return strings.EqualFold(k, kind) })
}

// reportFolders writes to stderr how many objects each folder of the output has.
func (o *renderOptions) reportFolders(folders []string) error {
	if o.quiet {
		return nil
	}
	count := map[string]int{}
	for _, folder := range folders {
		count[folder]++
	}
	w := text.Buffered(o.factory.Streams.Err)
	if len(folders) > 0 && count[emit.SharedFolder] == len(folders) {
		_, _ = fmt.Fprintf(w, "note: no object belongs to a subset: all are in %s\n", filepath.Join(o.outputDir, emit.SharedFolder))
		return w.Flush()
	}
	for _, folder := range slices.Sorted(maps.Keys(count)) {
		_, _ = fmt.Fprintf(w, "%s: %s\n", filepath.Join(o.outputDir, filepath.FromSlash(folder)), counted.Of(count[folder], "object"))
	}
	return w.Flush()
}
