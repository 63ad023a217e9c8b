package cli

import (
	"github.com/spf13/cobra"

	applycmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/apply"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/argocd"
	convertcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/convert"
	createcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/create"
	debugcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/debug"
	deletecmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/delete"
	democmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/demo"
	describecmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/describe"
	diffcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/diff"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/distribute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor"
	execcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/exec"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/explain"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/expose"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	fncmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/fn"
	getcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/get"
	inventorycmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/inventory"
	lintcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/lint"
	logscmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/logs"
	migratecmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/migrate"
	plancmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/plan"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/protect"
	pullcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/pull"
	rbaccmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rbac"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/reference"
	rendercmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/render"
	restartcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/restart"
	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/scale"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/scaledown"
	schemacmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/schema"
	setcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/set"
	simulatecmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/spread"
	uicmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/ui"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	whycmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/why"
)

// manifests are the commands that read files, and know of no cluster unless told.
func manifests(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		rendercmd.New(f),
		applycmd.New(f),
		explain.New(f),
		fncmd.New(f),
		lintcmd.New(f),
		diffcmd.New(f),
		inventorycmd.New(f),
		convertcmd.New(f),
		schemacmd.New(f),
		argocd.New(f),
	}
}

// rollouts are the commands that plan what happens to pods, and make it happen.
func rollouts(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		plancmd.New(f),
		rolloutcmd.New(f, uicmd.Over),
		restartcmd.New(f),
		migratecmd.New(f),
		pullcmd.New(f),
		simulatecmd.New(f),
		democmd.New(f),
	}
}

// policies are the commands that create objects, and change what they say.
func policies(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		createcmd.New(f),
		distribute.New(f),
		setcmd.New(f),
		scale.New(f),
		scale.NewAutoscale(f),
		scaledown.New(f),
		protect.New(f),
		protect.NewUnprotect(f),
		deletecmd.New(f),
		expose.New(f),
		spread.New(f),
	}
}

// views are the commands that look.
func views(f *factory.Factory) []*cobra.Command {
	return []*cobra.Command{
		whycmd.New(f),
		uicmd.New(f),
		doctor.New(f),
		reference.New(),
		rbaccmd.New(f),
		version.New(f),
		getcmd.New(f),
		describecmd.New(f),
		execcmd.New(f),
		logscmd.New(f),
		debugcmd.New(f),
	}
}
