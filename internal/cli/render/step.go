package render

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Step is rendering as the first step of another verb, for the cluster that the
// verb is about.
type Step struct{ renderOptions }

// NewStep returns the step with its defaults.
func NewStep(f *factory.Factory) *Step {
	return &Step{renderOptions{streamOptions: streamOptions{factory: f}}}
}

// flagsNotInStep are flags about where the output goes, and what else is written.
var flagsNotInStep = []string{"order", "output", "out", "output-kustomization", "split-by", "allow-empty", "against", "patches-dir", "steps"}

// AddFlags adds the flags of render that do not say where its output goes. The
// target is the cluster's own kind unless it is given.
func (s *Step) AddFlags(c *cobra.Command) {
	all := &cobra.Command{}
	s.addFlags(all)
	completeFlags(all)
	target := all.Flags().Lookup("target")
	s.opt.Target, target.DefValue = engine.Auto, string(engine.Auto)
	all.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(flagsNotInStep, f.Name) {
			c.Flags().AddFlag(f)
		}
	})
}

// Validate checks the flags. Errors are of usage.
func (s *Step) Validate() error { return s.validate() }

// Stdin reports whether the manifests come from standard input, so that no question can be
// asked on it.
func (s *Step) Stdin() bool { return slices.Contains(slices.Concat(s.Files, s.with), "-") }

// Arguments are the flags that name the sources.
func (s *Step) Arguments() string {
	if s.Kustomize != "" {
		return "-k " + s.Kustomize
	}
	return "-f " + strings.Join(s.Files, " -f ")
}

// Run renders, says what was found, and returns the objects in the order to apply
// them, with the facts that they were rendered with.
func (s *Step) Run(ctx context.Context) (out, facts []*resource.Resource, err error) {
	stream, err := s.readManifests(ctx)
	if err != nil {
		return nil, nil, err
	}
	count := len(stream)
	opt, err := s.engineOptions(ctx, stream)
	if err != nil {
		return nil, nil, err
	}
	res, err := engine.Render(ctx, stream, opt)
	if err != nil {
		return nil, nil, err
	}
	if err := s.printFindings(count, res); err != nil {
		return nil, nil, err
	}
	return emit.ApplyOrder(res.Resources), opt.Context, s.judge(res)
}
