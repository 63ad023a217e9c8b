package argocd

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// chart is the file by which Helm knows a chart.
const chart = "Chart.yaml"

// load reads what the application's source gives.
func (a *application) load(ctx context.Context) ([]*resource.Resource, error) {
	opt := a.limits.Load(load.Options{Namespace: a.settings.Namespace, Root: a.root})
	switch a.source() {
	case engine.Helm:
		b, err := a.template(ctx)
		if err != nil {
			return nil, err
		}
		list, err := load.Text("helm template", b)
		return input.Manifests(a.factory.Streams.Err, foreign(list)), a.permit(err)
	case engine.Kustomize:
		opt.Kustomize = "."
	default:
		opt.Files, opt.Recursive = []string{"."}, a.settings.Recurse
		opt.Except = a.named()
	}
	list, err := load.Load(ctx, opt)
	return input.Manifests(a.factory.Streams.Err, foreign(list)), a.permit(err)
}

// named are files that options name, and which may lie beside the manifests.
func (a *application) named() (files []string) {
	for _, s := range slices.Concat(a.settings.With, a.settings.Base) {
		if s.File != "" {
			files = append(files, s.File)
		}
	}
	return files
}

// permit lets an empty input pass where that is allowed.
func (a *application) permit(err error) error {
	if a.settings.AllowEmpty && errors.Is(err, load.ErrEmpty) {
		return nil
	}
	return err
}

// source resolves auto.
func (a *application) source() engine.Source {
	if a.settings.Source != engine.Auto {
		return a.settings.Source
	}
	if _, err := os.Stat(chart); err == nil {
		return engine.Helm
	}
	if load.IsKustomization(".") {
		return engine.Kustomize
	}
	return engine.Directory
}
