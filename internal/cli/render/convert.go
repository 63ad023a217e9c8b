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
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const convertLong = `Convert objects to another kind or API version, from files alone. Comments, order and all
other objects are kept.

--to moves workloads and budgets onto Kruise, or off it:

  Deployment             CloneSet
  StatefulSet            AdvancedStatefulSet
  DaemonSet              AdvancedDaemonSet
  CronJob                AdvancedCronJob
  PodDisruptionBudget    PodUnavailableBudget

"--to kruise" and "--to native" mean all kinds of one side. References from autoscalers,
budgets and spreads are updated. The behavior stays the same as far as the other kind
allows; losses are reported on stderr. Lost fields are kept in the annotation
kubectl-kruise.dev/converted-from, from which a later conversion to the first kind
restores them. To move a running workload, use "kubectl kruise migrate".

--to-version writes Kruise objects in another version of their API, as Kruise's
conversion webhook would. With both, converted objects get the version, too; without
--to-version they get the newest one that the release of Kruise serves.

--kruise-version names that release (default: the newest). Versions that it does not serve
and fields that it does not have are errors.`

const convertExample = `  # a Deployment onto Kruise, images updated in place
  kubectl kruise convert -f web.yaml --to CloneSet --pod-update-policy InPlaceIfPossible

  # everything of one team, for Kruise 1.8
  kubectl kruise convert -f manifests/ -R -l team=shop --to kruise --kruise-version 1.8

  # off Kruise; fail if anything is lost
  kubectl kruise convert -f web.yaml --to native --strict

  # to what Kruise stores after 1.9
  kubectl kruise convert -f manifests/ -R --to-version v1beta1 --kruise-version next > converted.yaml`

// NewConvert returns the verb that writes objects in another form, from files
// alone: Kruise objects in another version of their API, workloads and budgets
// as the kind that does the same with Kruise, or without.
func NewConvert(f *factory.Factory) *cobra.Command {
	o := &convertOptions{streamOptions: streamOptions{factory: f}}
	c := &cobra.Command{
		Use:     "convert (-f FILE | -k DIR) (--to KIND | --to-version VERSION)",
		Short:   "Convert objects to another kind or API version",
		Long:    convertLong,
		Example: convertExample,
		Args:    command.NoArgs("name files with -f, a kustomization with -k, objects with --name"),
		RunE:    func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	o.addFlags(c)
	return c
}

func (o *convertOptions) run(ctx context.Context) error {
	opt, err := o.validate()
	if err != nil {
		return err
	}
	defer o.factory.Working("converting").Stop()
	stream, err := load.Load(ctx, o.Load(load.Options{Stdin: o.factory.Streams.In, Namespace: o.factory.Namespace(), Except: o.with}))
	if err != nil {
		return err
	}
	stream = input.Manifests(o.noted(), stream)
	count, given := len(stream), slices.Clone(stream)
	stream, found, err := o.toKinds(ctx, stream, opt)
	if err != nil {
		return err
	}
	lost, err := o.toVersion(stream, given)
	if err != nil {
		return err
	}
	found = append(found, lost...)
	if err := o.writeReport(count, len(stream), found, nil); err != nil {
		return err
	}
	if o.strict && finding.Worst(found).Rank() >= finding.Lost.Rank() {
		return &resource.Error{Err: errors.New("something is lost, and --strict was given"), Hint: "the lines above name each field"}
	}
	if o.outputDir != "" {
		_, err = emit.Dir(ctx, o.outputDir, stream, o.dirOptions())
		return err
	}
	return o.print(ctx, stream)
}

// toKinds does what --to asks for, and says what is lost by it.
func (o *convertOptions) toKinds(ctx context.Context, stream []*resource.Resource, opt engine.Options) (out []*resource.Resource, found []finding.Finding, err error) {
	if len(o.to) == 0 {
		return stream, nil, nil
	}
	if opt.Context, err = load.Context(ctx, o.with, o.factory.Streams.In); err != nil {
		return nil, nil, err
	}
	count := len(stream)
	res, err := engine.ToKinds(ctx, stream, opt)
	if err != nil {
		return nil, nil, err
	}
	if res.Converted == 0 && o.version == "" {
		return nil, nil, &resource.Error{Err: fmt.Errorf("nothing of the input becomes %s", words(o.to)), Hint: "give --to a kind that an object of the input can become; --name and -l leave objects out"}
	}
	return res.Resources, res.Findings, o.sayKinds(count, res)
}

// toVersion does what --to-version asks for, in place, and writes what --to made in a
// version that the release of Kruise serves.
func (o *convertOptions) toVersion(stream, given []*resource.Resource) (found []finding.Finding, err error) {
	written, err := engine.ForRelease(stream, engine.Writing{
		Version: o.version, Release: o.kruise.Given(), Given: given,
	})
	if err != nil {
		return nil, err
	}
	for _, l := range written.Lost {
		found = append(found, l.Finding())
	}
	return found, o.sayVersion(written)
}

// words joins the legal values of a flag.
func words(list []string) string { return strings.Join(list, ", ") }

// sayKinds tells on stderr what conversion to other kinds keeps, bends or loses.
func (o *convertOptions) sayKinds(in int, res *engine.Result) error {
	w := text.Buffered(o.factory.Streams.Err)
	switch {
	case res.Converted == 0:
		_, _ = fmt.Fprintf(w, "warning: nothing of the input becomes %s\n", words(o.to))
	case !o.quiet:
		if err := view.Findings(w, res.Findings, o.verbose > 0, view.Style{Color: o.factory.ColorErr()}); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w, view.Counted(fmt.Sprintf("converted %d of %s", res.Converted, counted.Of(in, "object")), res.Findings))
	}
	return w.Flush()
}

// sayVersion names what another version loses and what stays as it is.
func (o *convertOptions) sayVersion(out engine.Written) error {
	w := text.Buffered(o.factory.Streams.Err)
	for _, l := range out.Lost {
		if _, err := fmt.Fprintf(w, "lost: %s:%d: %s: %s: %s\n", l.File, l.Line, l.Object, l.Path, l.Why); err != nil {
			return err
		}
	}
	for _, r := range out.Skipped {
		if _, err := fmt.Fprintf(w, "kept: %s: %s has no version %s\n", r.Origin, r.ID(), o.version); err != nil {
			return err
		}
	}
	for _, r := range out.Unserved {
		if _, err := fmt.Fprintf(w, "warning: %s: no release of Kruise serves %s as %s, only builds after %s\n", r.Origin, r.ID(), r.Version(), kruise.NewestRelease); err != nil {
			return err
		}
	}
	return w.Flush()
}
