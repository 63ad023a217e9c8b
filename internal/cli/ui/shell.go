package ui

import (
	"io"
	"os"
	"os/exec"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Shell is [world.Actions]: this program's own `exec`, which has the terminal to itself.
func (l *liveSource) Shell(namespace, pod, container string) (world.Program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"exec", "-it", "-n", namespace, pod}, l.flags...)
	if container != "" {
		args = append(args, "-c", container)
	}
	args = append(args, "--", "sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash || exec sh")
	return program{exec.CommandContext(l.ctx, self, args...)}, nil
}

// program is a process that is given the terminal.
type program struct{ *exec.Cmd }

// SetStdin, SetStdout and SetStderr are [world.Program].
func (p program) SetStdin(r io.Reader) { p.Stdin = r }

// SetStdout is where it prints.
func (p program) SetStdout(w io.Writer) { p.Stdout = w }

// SetStderr is where it complains.
func (p program) SetStderr(w io.Writer) { p.Stderr = w }

// connection are the flags that were given to reach the cluster, but for the namespace.
func connection(flags *genericclioptions.ConfigFlags) []string {
	usual, given := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	genericclioptions.NewConfigFlags(true).AddFlags(usual)
	flags.AddFlags(given)
	var out []string
	given.VisitAll(func(f *pflag.Flag) {
		if f.Name == "namespace" || f.Value.String() == usual.Lookup(f.Name).DefValue {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				out = append(out, "--"+f.Name+"="+v)
			}
			return
		}
		out = append(out, "--"+f.Name+"="+f.Value.String())
	})
	return out
}
