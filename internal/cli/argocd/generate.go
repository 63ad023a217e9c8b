package argocd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/config"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// application is one application on its way to manifests.
type application struct {
	factory  *factory.Factory
	env      engine.Environment
	settings *engine.Settings
	// root is the repository's, folder the application's below it.
	root, folder string
	limits       *input.LimitFlag
}

// generate writes nothing until all of it is known to be good: what stands on stdout
// may be applied, with pruning.
func (a *application) generate(ctx context.Context) error {
	stream, err := a.load(ctx)
	if err != nil {
		return err
	}
	opt, err := a.options()
	if err != nil {
		return err
	}
	opt.Stop = ctx.Err
	res, err := render.Render(stream, opt)
	if err != nil {
		return err
	}
	if err := a.say(len(stream), res); err != nil {
		return err
	}
	if err := a.judge(res); err != nil {
		return err
	}
	return a.write(ctx, res.Resources)
}

func (a *application) write(ctx context.Context, list []*resource.Resource) error {
	if a.settings.SyncWaves {
		engine.SyncWaves(list)
	}
	var b bytes.Buffer
	if err := emit.Drain(&b, list); err != nil {
		return err
	}
	_, err := io.Copy(emit.Unless(ctx.Err, a.factory.Streams.Out), &b)
	return err
}

// options are those of the settings, with the objects that they name.
func (a *application) options() (render.Options, error) {
	opt := a.settings.Options()
	opt.Limits = a.limits.Stage()
	var err error
	if opt.Context, err = a.settings.Context(a.read); err != nil {
		return opt, err
	}
	if opt.Base, err = a.settings.Before(a.read); err != nil {
		return opt, err
	}
	return opt.WithFacts()
}

// read reads a file of the repository, named from the application's folder.
func (a *application) read(path string) ([]byte, error) { return read(a.root, a.folder, path) }

// read reads a file of the repository root, named from a folder below it.
func read(root, folder, path string) ([]byte, error) {
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

func (a *application) say(in int, res *render.Result) error {
	w := bufio.NewWriter(a.factory.Streams.Err)
	if a.settings.Explain {
		if err := view.Explanations(w, res.Explanations); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w)
	}
	if err := view.Findings(w, res.Findings, false, view.Style{}); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, view.Summary(in, len(res.Resources), res.Findings))
	return w.Flush()
}

// judge refuses a result that must not reach a cluster.
func (a *application) judge(res *render.Result) error {
	switch {
	case len(res.Resources) == 0 && !a.settings.AllowEmpty:
		return &resource.Error{Err: errors.New("nothing is left to emit"), Hint: "with pruning, an empty application deletes everything; the option allowEmpty permits it"}
	case a.settings.Strict && finding.Worst(res.Findings).Rank() >= finding.Lost.Rank():
		return &resource.Error{Err: errors.New("something is lost, and the option strict is set"), Hint: "the findings above name each field and what to do"}
	}
	return nil
}

// foreign drops the RenderConfig that lies beside the manifests, without a word: it is in
// force.
func foreign(list []*resource.Resource) []*resource.Resource {
	return slices.DeleteFunc(list, func(r *resource.Resource) bool { return r.Is(config.Group, config.Kind) })
}
