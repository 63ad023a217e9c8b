package render

import (
	"bufio"
	"context"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/subset"
)

// say tells on stderr (and in the report) what was found.
func (o *options) say(in int, res *engine.Result) error {
	if o.report != "" {
		b, err := view.NewReport(in, len(res.Resources), res.Findings, res.Explanations).JSON()
		if err != nil {
			return err
		}
		if err := emit.File(o.report, b); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(o.factory.Streams.Err)
	st := view.Style{Color: o.factory.ColorErr()}
	if o.explain {
		if err := view.Explanations(w, res.Explanations); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w)
	}
	if !o.quiet {
		if err := view.Findings(w, res.Findings, o.verbose > 0, st); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w, view.Summary(in, len(res.Resources), res.Findings))
	}
	return w.Flush()
}

func (o *options) emit(ctx context.Context, list []*resource.Resource) error {
	if o.order == "apply" {
		list = emit.ApplyOrder(list)
	}
	if o.outputDir != "" {
		format := emit.YAML
		if o.output == "json" {
			format = emit.JSON
		}
		opt := emit.DirOptions{Format: format, Kustomization: o.kustomization, Kept: o.kept, Stop: ctx.Err}
		if o.splitBy == "" {
			return emit.Dir(o.outputDir, list, opt)
		}
		opt.Folders = emit.SubsetFolders(subset.Of(list))
		if err := emit.Dir(o.outputDir, list, opt); err != nil {
			return err
		}
		return o.reportFolders(opt.Folders)
	}
	out := emit.Unless(ctx.Err, o.factory.Streams.Out)
	if o.output == "json" {
		return emit.JSONStream(out, list)
	}
	return emit.Drain(out, list)
}
