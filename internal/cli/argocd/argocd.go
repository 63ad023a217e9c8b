// Package argocd is the verb that Argo CD's repo server runs: manifests of an
// application on stdout, everything else on stderr. It works in the application's
// folder, asks no cluster, and reads nothing outside the repository.
package argocd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const long = `Serve Argo CD as a config management plugin: generate the manifests of the
application in the working folder, or announce its parameters.

The options are those of a RenderConfig in kruise-render.yaml; variables of the
application (KRUISE_TARGET, …) go over them, and its parameters over both.
'render' without -f and -k does the same as 'argocd generate' where Argo CD's
variables are set.`

const example = `  # what Argo CD runs, by hand, in an application's folder
  KUBE_VERSION=1.35 kubectl kruise argocd generate

  # what the form of the application shows
  kubectl kruise argocd parameters`

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use: "argocd", Short: "Serve Argo CD as a config management plugin",
		Long: long, Example: example, Args: command.NoArgs("see 'kubectl kruise argocd --help'"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newGenerate(f),
		&cobra.Command{
			Use: "parameters", Short: "Print the application's parameters as JSON", Example: "  kubectl kruise argocd parameters",
			Args: command.NoArgs("the application is the working folder"),
			RunE: func(*cobra.Command, []string) error { return announce(f) },
		},
	)
	return c
}

func newGenerate(f *factory.Factory) *cobra.Command {
	limits := &input.LimitFlag{}
	c := &cobra.Command{
		Use: "generate", Short: "Write the application's manifests", Example: "  kubectl kruise argocd generate > manifests.yaml",
		Args: command.NoArgs("the application is the working folder"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := limits.Complete(); err != nil {
				return err
			}
			return Generate(c.Context(), f, limits)
		},
	}
	limits.Add(c)
	return c
}

// Inside reports whether Argo CD has started this process.
func Inside(f *factory.Factory) bool { return engine.Inside(f.Streams.Getenv) }

// Generate writes the manifests of the application in the working folder. The limits
// are of the one who runs the repo server: no repository can raise them.
func Generate(ctx context.Context, f *factory.Factory, limits *input.LimitFlag) error {
	if f.Streams.Environ != nil {
		for _, line := range engine.Stray(f.Streams.Environ()) {
			_, _ = fmt.Fprintf(f.Streams.Err, "warning: %s\n", line)
		}
	}
	env, s, err := settings(f)
	if err == nil {
		err = s.Judge(nil)
	}
	if err != nil {
		return err
	}
	root, folder, err := repository(env.Path)
	if err != nil {
		return err
	}
	a := &application{factory: f, env: env, settings: s, root: root, folder: folder, limits: limits}
	return a.generate(ctx)
}

func announce(f *factory.Factory) error {
	_, s, err := settings(f)
	if err != nil {
		return err
	}
	return engine.WriteAnnouncements(f.Streams.Out, engine.Announce(s))
}

func settings(f *factory.Factory) (engine.Environment, *engine.Settings, error) {
	env, err := engine.ReadEnvironment(f.Streams.Getenv)
	if err != nil {
		return env, nil, err
	}
	root, folder, err := repository(env.Path)
	if err != nil {
		return env, nil, err
	}
	config, err := renderConfig(root, folder)
	if err != nil {
		return env, nil, err
	}
	s, err := env.Settings(config)
	return env, s, placed(err)
}

// placed names the file in the faults that have a line in it.
func placed(err error) error {
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
	b, err := read(root, folder, engine.File)
	if err != nil {
		return nil, err
	}
	return load.Single(engine.File, b)
}

// repository returns the root of the repository and the working folder below it, both
// without links. The variable that tells where the folder lies in the repository is
// believed as far as the names of folders agree; else the folder is all there is.
func repository(path string) (root, folder string, err error) {
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
