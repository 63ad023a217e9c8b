package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const argocdLong = `Serve Argo CD as a config management plugin: generate the manifests of the
application in the working folder, or announce its parameters. The folder plugins/argocd
of the repository has what installs it.

The options are those of a RenderConfig in kruise-render.yaml; variables of the
application (KRUISE_TARGET, …) override them, and its parameters override both.
'render' without -f and -k does the same as 'argocd generate' if Argo CD's
variables are set.`

const argocdExample = `  # run what Argo CD runs, in the folder of an application
  KUBE_VERSION=1.35 KUBE_API_VERSIONS=apps/v1 kubectl kruise argocd generate

  # the parameters that Argo CD shows
  kubectl kruise argocd parameters`

// NewArgoCD returns the verb.
func NewArgoCD(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use: "argocd", Short: "Serve Argo CD as a config management plugin",
		Long: argocdLong, Example: argocdExample, Args: command.NoArgs("see 'kubectl kruise argocd --help'"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newArgoCDGenerate(f),
		&cobra.Command{
			Use: "parameters", Short: "Print the application's parameters as JSON", Example: "  kubectl kruise argocd parameters",
			Args: command.NoArgs("the application is the working folder"),
			RunE: func(*cobra.Command, []string) error { return announceParameters(f) },
		},
	)
	return c
}

func newArgoCDGenerate(f *factory.Factory) *cobra.Command {
	limits := &input.LimitFlag{}
	c := &cobra.Command{
		Use: "generate", Short: "Write the application's manifests", Example: "  kubectl kruise argocd generate > manifests.yaml",
		Args: command.NoArgs("the application is the working folder"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := limits.Complete(); err != nil {
				return err
			}
			return generateForArgoCD(c.Context(), f, limits)
		},
	}
	limits.Add(c)
	return c
}

// inArgoCD reports whether Argo CD has started this process.
func inArgoCD(f *factory.Factory) bool { return engine.Inside(f.Streams.Getenv) }

// generateForArgoCD writes the manifests of the application in the working folder. The limits
// are of the one who runs the repo server: no repository can raise them.
func generateForArgoCD(ctx context.Context, f *factory.Factory, limits *input.LimitFlag) error {
	for _, line := range engine.Stray(f.Streams.Environ) {
		_, _ = fmt.Fprintf(f.Streams.Err, "warning: %s\n", line)
	}
	env, s, err := argocdSettings(f)
	if err == nil {
		err = s.Judge(nil)
	}
	if err != nil {
		return err
	}
	root, folder, err := repositoryOf(env.Path)
	if err != nil {
		return err
	}
	a := &argocdApplication{factory: f, env: env, settings: s, root: root, folder: folder, limits: limits}
	return a.generate(ctx)
}

func announceParameters(f *factory.Factory) error {
	_, s, err := argocdSettings(f)
	if err != nil {
		return err
	}
	return engine.WriteAnnouncements(f.Streams.Out, engine.Announce(s))
}

func argocdSettings(f *factory.Factory) (engine.Environment, *engine.Settings, error) {
	env, err := engine.ReadEnvironment(f.Streams.Getenv)
	if err != nil {
		return env, nil, err
	}
	root, folder, err := repositoryOf(env.Path)
	if err != nil {
		return env, nil, err
	}
	config, err := renderConfig(root, folder)
	if err != nil {
		return env, nil, err
	}
	s, err := env.Settings(config)
	return env, s, withApplicationPath(err)
}

// withApplicationPath names the file in the faults that have a line in it.
func withApplicationPath(err error) error {
	var all, out resource.Errors
	all.Add(err)
	for _, e := range all {
		if fault, ok := errors.AsType[*tree.Error](e); ok && fault.Line > 0 {
			e = &resource.Error{File: engine.File, Line: fault.Line, Field: fault.Path, Err: errors.New(fault.Msg), Hint: fault.Hint}
		}
		out.Add(e)
	}
	return out.Err()
}

// renderConfig reads the application's RenderConfig, nil without one: a plugin can be
// asked for by name, too.
func renderConfig(root, folder string) (*tree.Node, error) {
	if _, err := os.Lstat(engine.File); os.IsNotExist(err) {
		return nil, nil
	}
	b, err := readBelow(root, folder, engine.File)
	if err != nil {
		return nil, err
	}
	return load.Single(engine.File, b)
}

// repositoryOf returns the root of the repository and the working folder below it, both
// without links. The variable that tells where the folder lies in the repository is
// believed as far as the names of folders agree; else the folder is all there is.
func repositoryOf(path string) (root, folder string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	root = dir
	if top, ok := strings.CutSuffix(filepath.ToSlash(dir), "/"+path); ok && path != "" && top != "" {
		root = filepath.FromSlash(top)
	}
	physical, err := filepath.EvalSymlinks(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", "", err
	}
	folder, err = filepath.Rel(root, physical)
	if err == nil && !filepath.IsLocal(folder) {
		err = &resource.Error{File: path, Err: errors.New("leads out of the repository")}
	}
	return root, folder, err
}

// argocdApplication is one application on its way to manifests.
type argocdApplication struct {
	factory  *factory.Factory
	env      engine.Environment
	settings *engine.Settings
	// root is the repository's, folder the application's below it.
	root, folder string
	limits       *input.LimitFlag
}

// generate writes nothing until all of it is known to be good: what is on stdout
// may be applied, with pruning.
func (a *argocdApplication) generate(ctx context.Context) error {
	stream, err := a.load(ctx)
	if err != nil {
		return err
	}
	opt, err := a.options()
	if err != nil {
		return err
	}
	res, err := render.Render(ctx, stream, opt)
	if err != nil {
		return err
	}
	a.disregardAnnotations(res.Findings)
	if err := a.printFindings(len(stream), res); err != nil {
		return err
	}
	if err := a.judge(res); err != nil {
		return err
	}
	return a.write(ctx, res.Resources)
}

func (a *argocdApplication) write(ctx context.Context, list []*resource.Resource) error {
	if a.settings.SyncWaves {
		engine.SyncWaves(list)
	}
	return emit.Drain(emit.Unless(ctx, a.factory.Streams.Out), list, a.limits.Stage())
}

// options are those of the settings, with the objects that they name.
func (a *argocdApplication) options() (render.Options, error) {
	opt, err := a.settings.Read(a.read)
	if err != nil {
		return opt, err
	}
	opt.Limits = a.limits.Stage()
	return opt.WithFacts()
}

// read reads a file of the repository, named from the application's folder.
func (a *argocdApplication) read(path string) ([]byte, error) {
	return readBelow(a.root, a.folder, path)
}

// readBelow reads a file of the repository root, named from a folder below it.
func readBelow(root, folder, path string) ([]byte, error) {
	if filepath.IsAbs(path) {
		return load.Below(root)(path)
	}
	b, err := load.Below(root)(folder + string(filepath.Separator) + path)
	if fault, ok := errors.AsType[*resource.Error](err); ok {
		named := *fault
		named.File = path
		if named.Hint != "" {
			named.Hint = "an application reads the files of its repository, by paths from its folder"
		}
		return nil, &named
	}
	return b, err
}

func (a *argocdApplication) printFindings(in int, res *render.Result) error {
	w := text.Buffered(a.factory.Streams.Err)
	if a.settings.Explain {
		if err := view.Explanations(w, res.Explanations, view.Style{}); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w)
	}
	noteStale(w, res.Stale)
	if err := a.writeFindings(w, res.Findings); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, view.Summary(in, len(res.Resources), res.Findings))
	return w.Flush()
}

func (a *argocdApplication) writeFindings(w io.Writer, list []finding.Finding) error {
	if a.settings.Explain {
		return view.Findings(w, list, false, view.Style{})
	}
	return view.FindingIDs(w, list, "the option explain tells where each is, and what to do", view.Style{})
}

// disregardAnnotations has annotations of objects accept nothing where the Application, and not the
// repository, sets strict: who may write a manifest must not decide for those who set it.
func (a *argocdApplication) disregardAnnotations(list []finding.Finding) {
	if !a.settings.Strict || a.settings.AcceptAnnotations {
		return
	}
	for i := range list {
		list[i].Accepted = false
	}
}

// judge refuses a result that must not reach a cluster.
func (a *argocdApplication) judge(res *render.Result) error {
	switch {
	case len(res.Resources) == 0 && !a.settings.AllowEmpty:
		return &resource.Error{Err: errors.New("nothing is left to emit"), Hint: "with pruning, an empty application deletes everything; the option allowEmpty permits it"}
	case a.settings.Strict && finding.Worst(res.Findings).Rank() >= finding.Lost.Rank():
		return &resource.Error{Err: errors.New("something is lost, and the option strict is set"), Hint: a.strictHint()}
	}
	return nil
}

func (a *argocdApplication) strictHint() string {
	hint := "the option explain tells each field and what to do"
	if a.settings.StrictByApplication && !a.settings.AcceptAnnotations {
		hint += "; the Application sets strict, so annotations accept nothing unless it sets acceptAnnotations, too"
	}
	return hint
}

// withoutOwnDocuments drops the RenderConfig that lies beside the manifests, without a word: it is in
// force.
func withoutOwnDocuments(list []*resource.Resource) []*resource.Resource {
	return slices.DeleteFunc(list, func(r *resource.Resource) bool { return r.Is(render.ConfigGroup, render.ConfigKind) })
}

// chartFileName is the file by which Helm knows a chart.
const chartFileName = "Chart.yaml"

// load reads what the application's source gives.
func (a *argocdApplication) load(ctx context.Context) ([]*resource.Resource, error) {
	opt := a.limits.Load(load.Options{Namespace: a.settings.Namespace, Root: a.root})
	switch a.source() {
	case engine.Helm:
		b, err := a.template(ctx)
		if err != nil {
			return nil, err
		}
		list, err := load.Text("helm template", b)
		return input.Manifests(a.factory.Streams.Err, withoutOwnDocuments(list)), a.permit(err)
	case engine.Kustomize:
		opt.Kustomize, opt.KruiseSchema = ".", a.settings.KruiseSchema
	default:
		opt.Files, opt.Recursive = []string{"."}, a.settings.Recurse
		opt.Except = a.named()
	}
	list, err := load.Load(ctx, opt)
	return input.Manifests(a.factory.Streams.Err, withoutOwnDocuments(list)), a.permit(withOptionHint(err))
}

// withOptionHint has what is undecided about a kustomization advise what an application has in place of
// flags.
func withOptionHint(err error) error {
	var all, out resource.Errors
	all.Add(err)
	for _, one := range all {
		if e, ok := errors.AsType[*resource.Error](one); ok {
			hinted := *e
			hinted.Hint = strings.NewReplacer(
				"--kruise-schema=true uses the schema in this command only", "kruiseSchema: true in "+engine.File+" uses the schema in this application only",
				"--kruise-schema=false builds", "kruiseSchema: false builds",
			).Replace(e.Hint)
			one = &hinted
		}
		out.Add(one)
	}
	return out.Err()
}

// named are files that options name, and which may lie beside the manifests.
func (a *argocdApplication) named() (files []string) {
	for _, s := range slices.Concat(a.settings.With, a.settings.Base) {
		if s.File != "" {
			files = append(files, s.File)
		}
	}
	return files
}

// permit lets an empty input pass where that is allowed.
func (a *argocdApplication) permit(err error) error {
	if a.settings.AllowEmpty && errors.Is(err, load.ErrEmpty) {
		return nil
	}
	return err
}

// source resolves auto.
func (a *argocdApplication) source() engine.Source {
	if a.settings.Source != engine.Auto {
		return a.settings.Source
	}
	if _, err := os.Stat(chartFileName); err == nil {
		return engine.Helm
	}
	if load.IsKustomization(".") {
		return engine.Kustomize
	}
	return engine.Directory
}
