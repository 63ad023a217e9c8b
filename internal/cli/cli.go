// Package cli is the command tree: it turns argv into a call of the engine and
// what comes back into text and an exit code. Each verb has a folder.
package cli

import (
	"bufio"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
)

const long = "Render, review and roll out OpenKruise workloads, with or without OpenKruise."

// Main runs the command line args (args[0] is the program) and returns the exit
// code.
func Main(ctx context.Context, args []string, s factory.Streams) int {
	factory.SilenceLogs()
	f := factory.New(s)
	f.EndWith(ctx)
	args = completing(args)
	root := newRoot(f, args[0])
	rest := factory.SpellVerbosity(args[1:])
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return command.FlagError(c, err, rest) })
	if len(rest) == 0 && !s.InTTY {
		rest = bare(f)
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd) {
		resourcearg.CompleteFlags(root, f, rest[1:])
	}
	root.SetArgs(askHelp(root, rest))
	root.SetIn(f.Streams.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	if s.Width > 0 {
		root.SetOut(text.Folding(s.Out, s.Width))
	}
	err := root.ExecuteContext(ctx)
	text.Flush(f.Streams.Out)
	text.Flush(f.Streams.Err)
	if err == nil {
		err = f.Warned()
	}
	if err != nil {
		complain(ctx, f, err)
	}
	return exitCode(ctx, err)
}

// reading are the verbs that read manifests and clusters and change neither: they are
// bounded in time and memory, and end at a signal whatever they are busy with.
var reading = []string{"render", "explain", "fn", "lint", "diff", "convert", "schema", "argocd generate", "plan", "simulate"}

func readOnly(c *cobra.Command) bool {
	return slices.Contains(reading, strings.TrimPrefix(c.CommandPath(), c.Root().CommandPath()+" "))
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
	}
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		root.Annotations[cobra.CommandDisplayNameAnnotation] = "kubectl kruise"
	}
	globalFlags(root, f)
	root.AddCommand(slices.Concat(manifests(f), rollouts(f), policies(f), views(f), kubectl.Commands(f))...)
	completion(root)
	takeFormerNames(root)
	groupHelp(root)
	root.Args = kubectl.NoSuchCommand
	root.RunE = showHelp
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		s := f.Streams
		if readOnly(c) {
			s.Out = input.Bounded(c, s.Out)
		}
		f.Streams.Out, f.Streams.Err = media(c, s)
		command.WarnDeprecated(f.Streams.Err, c)
		if readOnly(c) {
			input.Guard(c.Context(), c, f.Streams)
		}
		if err := factory.CheckProgress(f.Progress); err != nil {
			return command.Usagef("auto, always or never", "%w", err)
		}
		return checkColor(f.Color)
	}
	return root
}

// globalFlags adds the flags of all commands.
func globalFlags(root *cobra.Command, f *factory.Factory) {
	f.Flags.AddFlags(root.PersistentFlags())
	root.PersistentFlags().StringVar(&f.Color, "color", f.Color, "color messages: auto, always or never")
	root.PersistentFlags().StringVar(&f.Progress, "progress", f.Progress, "report long work on stderr: auto (on a terminal), always or never")
	root.PersistentFlags().BoolVar(&f.WarningsAsErrors, "warnings-as-errors", false, "fail where the server warns")
	hideConnectionFlags(root)
	factory.AddVerbosityFlag(root.PersistentFlags(), text.Writer(f.Streams.Err))
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

func checkColor(value string) error {
	switch value {
	case "auto", "always", "never":
		return nil
	}
	return command.Usagef("one of: auto, always, never", "--color: unknown value %q", value)
}

// hideConnectionFlags keeps --help short: kubectl's two dozen connection flags
// work everywhere and are known from kubectl.
func hideConnectionFlags(root *cobra.Command) {
	shown := map[string]bool{"namespace": true, "context": true, "kubeconfig": true, "color": true}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = !shown[f.Name]
	})
}
