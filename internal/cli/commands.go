package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/apply"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/change"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/create"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/inspect"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/preview"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/reference"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/render"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/restart"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ui"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
)

// manifests are the commands that read files, and ask no cluster unless a flag says so.
func manifests(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		render.NewRender(f),
		apply.New(f),
		preview.NewExplain(f),
		render.NewFn(f),
		render.NewLint(f),
		render.NewDiff(f),
		reference.NewInventory(f),
		render.NewConvert(f),
		reference.NewSchema(f),
		render.NewArgoCD(f),
	}
}

// rollouts are the commands that plan what happens to pods, and make it happen.
func rollouts(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		preview.NewPlan(f),
		rollout.New(f, ui.Over),
		restart.New(f),
		migrate.New(f),
		create.NewPull(f),
		preview.NewSimulate(f),
		ui.NewDemo(f),
	}
}

// policies are the commands that create objects, and change what they say.
func policies(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		create.NewCreate(f),
		create.NewDistribute(f),
		change.NewSet(f),
		change.NewScale(f),
		change.NewAutoscale(f),
		change.NewScaleDown(f),
		change.NewProtect(f),
		change.NewUnprotect(f),
		change.NewPatch(f),
		change.NewReplace(f),
		change.NewDelete(f),
		create.NewExpose(f),
		inspect.NewSpread(f),
	}
}

// views are the commands that look.
func views(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		doctor.NewWhy(f),
		ui.NewUI(f),
		doctor.NewDoctor(f),
		reference.NewReference(pagesByTask()...),
		reference.NewRBAC(f),
		version.New(f),
		inspect.NewGet(f),
		inspect.NewDescribe(f),
		inspect.NewExec(f),
		inspect.NewLogs(f),
		inspect.NewDebug(f),
	}
}

// pagesByTask are the pages of the reference: those of the help.
func pagesByTask() []reference.Group {
	var out []reference.Group
	for _, t := range tasks {
		out = append(out, reference.Group{Title: t.title, Commands: slices.Concat(t.main, t.also)})
	}
	return out
}
