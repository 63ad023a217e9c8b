// Package cli is the command tree: it turns argv into a call of the engine and
// what comes back into text and an exit code. Each verb has a folder.
package cli

import (
	"bufio"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	applycmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/apply"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/complete"
	convertcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/convert"
	createcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/create"
	debugcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/debug"
	deletecmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/delete"
	democmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/demo"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/deprecated"
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
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
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
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/trace"
	uicmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/ui"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	whycmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/why"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
)

const long = `Expand OpenKruise objects into native Kubernetes resources, plan what a change
will do, and drive rollouts, on clusters with OpenKruise and without.`

// Main runs the command line args (args[0] is the program) and returns the exit
// code.
func Main(ctx context.Context, args []string, s factory.Streams) int {
	trace.Off()
	f := factory.New(s)
	root := newRoot(f, args[0])
	rest := trace.Args(args[1:])
	if len(rest) == 0 && !s.InTTY {
		rest = bare(f)
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd) {
		complete.Flags(root, f)
	}
	root.SetArgs(rest)
	root.SetIn(f.Streams.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = f.Warned()
	}
	if err != nil {
		complain(s, err)
	}
	return exitCode(ctx, err)
}

// bare serves the call without arguments: kustomize before 5.7 can pass none,
// so a ResourceList on stdin means the KRM function.
func bare(f *factory.Factory) []string {
	in := bufio.NewReaderSize(f.Streams.In, 64<<10)
	f.Streams.In = in
	// Peek's error is the end of a short input, which is no matter here.
	if head, _ := in.Peek(64 << 10); fn.IsResourceList(head) {
		return []string{"fn"}
	}
	return nil
}

func newRoot(f *factory.Factory, program string) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-kruise",
		Short:         "Render, plan and roll out OpenKruise workloads",
		Long:          long,
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   map[string]string{},

		SuggestionsMinimumDistance: 2,
	}
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		root.Annotations[cobra.CommandDisplayNameAnnotation] = "kubectl kruise"
	}
	f.Flags.AddFlags(root.PersistentFlags())
	root.PersistentFlags().StringVar(&f.Color, "color", f.Color, "colour messages: auto, always or never")
	root.PersistentFlags().BoolVar(&f.WarningsAsErrors, "warnings-as-errors", false, "fail where the server warns")
	hideConnectionFlags(root)
	trace.AddFlag(root.PersistentFlags(), f.Streams.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage.Errorf("see '"+c.CommandPath()+" --help'", "%w", err)
	})
	root.AddCommand(
		rendercmd.New(f),
		applycmd.New(f),
		explain.New(f),
		plancmd.New(f),
		rolloutcmd.New(f, uicmd.Over),
		restartcmd.New(f),
		migratecmd.New(f),
		pullcmd.New(f),
		simulatecmd.New(f),
		whycmd.New(f),
		uicmd.New(f),
		doctor.New(f),
		reference.New(),
		democmd.New(f),
		fncmd.New(f),
		lintcmd.New(f),
		diffcmd.New(f),
		inventorycmd.New(f),
		convertcmd.New(f),
		schemacmd.New(f),
		rbaccmd.New(f),
		argocd.New(f),
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
		version.New(f),
		getcmd.New(f),
		describecmd.New(f),
		execcmd.New(f),
		logscmd.New(f),
		debugcmd.New(f),
	)
	root.AddCommand(kubectl.Commands(f)...)
	completion(root)
	groupHelp(root)
	root.Args = noSuchCommand
	root.RunE = showHelp
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		deprecated.Warn(f.Streams.Err, c)
		return checkColor(f.Color)
	}
	return root
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

func checkColor(value string) error {
	switch value {
	case "auto", "always", "never":
		return nil
	}
	return usage.Errorf("one of: auto, always, never", "--color: unknown value %q", value)
}

func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see '" + c.CommandPath() + " --help'"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage.Errorf(hint, "unknown command %q", args[0])
}
