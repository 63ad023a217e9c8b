package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

type renderOptions struct {
	streamOptions

	live bool

	// opt are the options of the engine, as far as a flag has their form.
	opt           engine.Options
	kubernetes    string
	templatePaths []string
	order         string

	changeFlags

	kustomization bool
	splitBy       string
	accept        []string
	baseline      string
	allowEmpty    bool
}

func (o *renderOptions) addFlags(c *cobra.Command) {
	fl := c.Flags()
	o.streamOptions.addFlags(c, "that of --live or --with, else the newest", "tell where each finding is, and what to do; exact ones too")
	fl.BoolVar(&o.live, "live", false, "read context objects from the cluster, as --with does from a file")
	fl.StringVar((*string)(&o.opt.Target), "target", string(engine.Native), "native, kruise (keep Kruise objects) or auto (by what the cluster serves)")
	fl.StringSliceVar(&o.opt.Expand, "expand", nil, "kinds to expand although --target keeps Kruise objects")
	fl.StringVar((*string)(&o.opt.Driver), "driver", string(stage.Native), "driver that will replace pods: native (controllers) or client (this program)")
	fl.StringVar(&o.kubernetes, "kubernetes-version", "", fmt.Sprintf("version of the API server that the output is for (default: that of --live or --with, else 1.%d)", stage.NewestKubernetes))
	fl.StringVar(&o.opt.HelperImage, "helper-image", lower.HelperImage, "image of pods that only pull another image; it must exit by itself")
	fl.BoolVar(&o.opt.ProtectAll, "protect-all", false, "write deletion protection policies for all kinds, not only for those of objects with the label")
	fl.StringVar((*string)(&o.opt.SidecarSetAs), "sidecarset-as", string(stage.Injection), "inject (into the pod templates of the input) or admission (policies for all pods, from 1.36)")
	fl.StringVar((*string)(&o.opt.SpreadAs), "spread-as", string(stage.SpreadSplit), "how the target of a WorkloadSpread is rendered: split (a workload for each subset) or constraints (one with topology spread constraints)")
	fl.BoolVar(&o.opt.OmitStrategy, "omit-strategy", false, "leave out the annotation kubectl-kruise.dev/strategy, from which rollouts of this tool read the Kruise workload back")
	fl.BoolVar(&o.opt.PreviewAPIs, "allow-preview-apis", false, "use alpha and beta APIs, which API servers disable by default")
	fl.StringSliceVar(&o.templatePaths, "template-paths", nil, "path of the pod template in further kinds, GROUP/KIND=PATH")
	fl.StringVar(&o.order, "order", "input", "order of the output: input, or apply (namespaces and policies first)")
	o.changeFlags.addFlags(fl)
	fl.BoolVar(&o.kustomization, "output-kustomization", false, "with --out: also write a kustomization.yaml")
	fl.StringVar(&o.splitBy, "split-by", "", "with --out: subset writes a folder for each subset of UnitedDeployments and WorkloadSpreads (subsets/NAME), and one for all other objects (shared)")
	fl.StringSliceVar(&o.accept, "accept", nil, "IDs of findings that were reviewed: they do not fail the command")
	fl.StringVar(&o.baseline, "baseline", "", "file that --report wrote: its findings were reviewed, and do not fail the command")
	fl.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 if the result is empty")
	fl.BoolVar(&o.opt.Explain, "explain", false, "report for each pod template why each SidecarSet was injected or not")
}

func (o *renderOptions) validate() error {
	if err := o.streamOptions.validate(o.base); err != nil {
		return err
	}
	if o.kustomization && o.outputDir == "" {
		return command.Usagef("give --out DIR", "--output-kustomization needs a directory")
	}
	if err := o.splittable(); err != nil {
		return err
	}
	for _, check := range []func() error{o.validChoices, o.idle} {
		if err := check(); err != nil {
			return err
		}
	}
	return o.changeFlags.validate(o.outputDir)
}

// validChoices refuses values that their flags do not know.
func (o *renderOptions) validChoices() error {
	for _, given := range []struct{ flag, value string }{
		{"target", string(o.opt.Target)},
		{"driver", string(o.opt.Driver)},
		{"order", o.order},
		{"sidecarset-as", string(o.opt.SidecarSetAs)},
		{"spread-as", string(o.opt.SpreadAs)},
	} {
		if err := command.OneOf(given.flag, given.value, flagChoices()[given.flag]...); err != nil {
			return err
		}
	}
	if o.opt.OmitStrategy && o.opt.Driver == stage.Client {
		return command.Usagef("leave it out, or give --driver native", "--omit-strategy: driver client reads the annotation")
	}
	for _, id := range o.accept {
		if !finding.Known(id) {
			return command.Usagef("each finding ends with its ID; docs/fidelity.md has all of them", "--accept: there is no finding %q", id)
		}
	}
	if _, err := o.kubernetesVersion(); err != nil {
		return command.Usagef(fmt.Sprintf("1.%d to 1.%d", stage.OldestKubernetes, stage.NewestKubernetes), "--kubernetes-version: %v", err)
	}
	for _, kind := range o.opt.Expand {
		if !slices.ContainsFunc(engine.Expandable, func(k string) bool { return strings.EqualFold(k, kind) }) {
			return command.Usagef("one or more of: "+strings.Join(engine.Expandable, ", "), "--expand: %q cannot be expanded", kind)
		}
	}
	return nil
}

// idle refuses a flag that would change nothing, without a word.
func (o *renderOptions) idle() error {
	kind, value := o.opt.UnusedOption()
	if kind == "" {
		return nil
	}
	flag := map[string]string{kruise.KindSidecarSet: "sidecarset-as", kruise.KindWorkloadSpread: "spread-as"}[kind]
	return command.Usagef("give --expand "+kind+", too", "--%s %s changes nothing: --target kruise keeps every %s", flag, value, kind)
}

// namespace is where objects without one live: where a cluster is asked about them,
// the one that kubectl would put them into.
func (o *renderOptions) namespace() (string, error) {
	if o.live {
		return o.factory.NamespaceOrDefault()
	}
	return o.factory.Namespace(), nil
}

func (o *renderOptions) readManifests(ctx context.Context) ([]*resource.Resource, error) {
	namespace, err := o.namespace()
	if err != nil {
		return nil, err
	}
	stream, err := load.Load(ctx, o.Load(load.Options{
		Stdin: o.factory.Streams.In, Namespace: namespace, Except: slices.Concat(o.with, []string{o.base}),
	}))
	if o.allowEmpty && errors.Is(err, load.ErrEmpty) {
		return nil, nil
	}
	return input.Manifests(o.noted(), stream), withHint(err)
}

// emptyOutputHint is why an empty result is a fault, and what permits it.
const emptyOutputHint = "an empty result can delete everything downstream; --allow-empty permits it"

// withHint names the flag that permits an input without objects, where the fault has no hint.
func withHint(err error) error {
	fault, ok := errors.AsType[*resource.Error](err)
	if !ok || !errors.Is(fault, load.ErrEmpty) || fault.Hint != "" {
		return err
	}
	hinted := *fault
	hinted.Hint = emptyOutputHint
	return &hinted
}

func (o *renderOptions) engineOptions(ctx context.Context, stream []*resource.Resource) (engine.Options, error) {
	paths, err := templatePathsOf(o.templatePaths)
	if err != nil {
		return engine.Options{}, err
	}
	kubernetes, err := o.kubernetesVersion()
	if err != nil {
		return engine.Options{}, err
	}
	namespace, err := o.namespace()
	if err != nil {
		return engine.Options{}, err
	}
	opt := o.opt
	opt.Kruise, opt.Kubernetes, opt.Namespace, opt.TemplatePaths = o.kruise.Given(), kubernetes, namespace, paths
	opt.Patches, opt.Limits = o.patchesDir != "", o.Limits.Stage()
	if opt.Context, err = o.facts(ctx, stream, opt); err != nil {
		return opt, err
	}
	if opt.Base, err = o.loadBase(ctx); err != nil {
		return opt, err
	}
	return opt.WithFacts()
}

func templatePathsOf(list []string) (map[string]string, error) {
	paths := map[string]string{}
	for _, l := range list {
		kind, path, ok := strings.Cut(l, "=")
		if !ok || !strings.Contains(kind, "/") || path == "" {
			return nil, command.Usagef("for instance --template-paths batch.example.com/Runner=spec.template", "--template-paths: %q is not GROUP/KIND=PATH", l)
		}
		if _, twice := paths[kind]; twice {
			return nil, command.Usagef("a kind has one path", "--template-paths: %s is given twice", kind)
		}
		paths[kind] = path
	}
	return paths, nil
}

// flagChoices are the flags with a closed set of values; the first is the default.
func flagChoices() map[string][]string {
	return map[string][]string{
		"target":   {"native", "kruise", "auto"},
		"driver":   {"native", "client"},
		"order":    {"input", "apply"},
		"split-by": {"subset"},

		"sidecarset-as": {"inject", "admission"},
		"spread-as":     {"split", "constraints"},
	}
}

// completeFlags registers what the shell may offer for the values of flags.
func completeFlags(c *cobra.Command) {
	offers := flagChoices()
	offers["expand"] = engine.Expandable
	for flag, values := range offers {
		command.Offer(c, flag, values...)
	}
	_ = c.MarkFlagDirname("patches-dir")
	_ = c.MarkFlagFilename("baseline", "json")
	_ = c.MarkFlagFilename("against", "yaml", "yml", "json")
}
