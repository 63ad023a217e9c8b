// Package kubectl takes commands of kubectl over as they are: it hands them this
// program's streams and connection, and turns the way in which they end a process into
// errors.
package kubectl

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubectl/pkg/cmd/apiresources"
	"k8s.io/kubectl/pkg/cmd/config"
	"k8s.io/kubectl/pkg/cmd/kustomize"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	_ "github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl/english" // before any of kubectl
)

// Factory makes kubectl's clients from our flags. It opens nothing.
func Factory(f *factory.Factory) cmdutil.Factory { return cmdutil.NewFactory(Getter(f)) }

// Getter is what cli-runtime's builders start from.
func Getter(f *factory.Factory) genericclioptions.RESTClientGetter { return getter{f.Flags, f} }

// Streams are the three streams in kubectl's type. Commands are built before it is known which verb
// runs, and with it what its text may do where it is shown: what is written goes to the streams that
// the verb has then.
func Streams(f *factory.Factory) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{
		In:     f.Streams.In,
		Out:    late(func() io.Writer { return f.Streams.Out }),
		ErrOut: late(func() io.Writer { return f.Streams.Err }),
	}
}

// RawStreams are the streams themselves, for verbs that pass on those of a container.
func RawStreams(f *factory.Factory) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: f.Streams.In, Out: f.Streams.Out, ErrOut: f.Streams.Err}
}

// late is a writer that is known once something is written.
type late func() io.Writer

// Write writes to it.
func (w late) Write(p []byte) (int, error) { return w().Write(p) }

// getter connects as all our commands do: with their limits, and each warning of the
// server once.
type getter struct {
	*genericclioptions.ConfigFlags
	factory *factory.Factory
}

// ToRESTConfig is how to reach the cluster. Some of kubectl's commands make a client of
// it as it is: it names the API of pods.
func (g getter) ToRESTConfig() (*rest.Config, error) {
	cfg, err := g.factory.Config()
	if err != nil {
		return nil, err
	}
	cfg.GroupVersion, cfg.APIPath = &corev1.SchemeGroupVersion, "/api"
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return cfg, rest.SetKubernetesDefaults(cfg)
}

// Commands are kubectl's own that the older plugin offered unchanged: scripts may call
// them here.
func Commands(f *factory.Factory) []*cobra.Command {
	get, streams := Getter(f), Streams(f)
	all := []*cobra.Command{
		waiting(get, streams),
		kustomize.NewCmdKustomize(streams),
		config.NewCmdConfig(get, clientcmd.NewDefaultPathOptions(), streams),
		apiresources.NewCmdAPIResources(get, streams),
		apiresources.NewCmdAPIVersions(get, streams),
		plugins(f),
	}
	for _, c := range all {
		Wrap(c)
		if c.Name() == "wait" {
			c.ValidArgsFunction = Names(f)
			c.Example = strings.ReplaceAll(c.Example, "create secret generic busybox1", "create -f busybox1.yaml")
		}
	}
	return append(all, options(f))
}

// options prints the flags that all commands have, among them those that --help leaves
// out.
func options(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "Print the flags that all commands accept",
		Example: `  kubectl kruise options`,
		Args:    command.NoArgs(""),
		RunE: func(c *cobra.Command, _ []string) error {
			all := pflag.NewFlagSet("", pflag.ContinueOnError)
			c.Root().PersistentFlags().VisitAll(func(flag *pflag.Flag) {
				shown := *flag
				shown.Hidden = false
				all.AddFlag(&shown)
			})
			command.PlainBools(all)
			_, err := fmt.Fprintf(f.Streams.Out, "These flags go with every command:\n\n%s", all.FlagUsages())
			return err
		},
	}
}

// Wrap makes a command of kubectl, with all below it, return its errors. It comes back
// changed: its examples call this program.
func Wrap(c *cobra.Command) *cobra.Command {
	if run := c.Run; run != nil {
		c.Run = nil
		c.RunE = func(c *cobra.Command, args []string) error {
			return Until(c.Context(), func() error { return withoutExit(func() { run(c, args) }) })
		}
		c.PreRunE = required
	}
	c.Example = strings.ReplaceAll(c.Example, "kubectl ", "kubectl kruise ")
	for _, sub := range c.Commands() {
		Wrap(sub)
	}
	return c
}

// required asks for flags that a command cannot do without, as an error of usage.
func required(c *cobra.Command, _ []string) error {
	if err := c.ValidateRequiredFlags(); err != nil {
		return command.Usagef("see '"+c.CommandPath()+" --help'", "%w", err)
	}
	return nil
}

// withoutExit runs what kubectl would end the process from, and returns that end as an error.
func withoutExit(run func()) (err error) {
	cmdutil.BehaviorOnFatal(func(text string, code int) { panic(end{text, code}) })
	defer func() {
		switch e := recover().(type) {
		case nil:
		case end:
			err = e.err()
		default:
			panic(e)
		}
	}()
	run()
	return nil
}

// end is how kubectl wanted to end the process.
type end struct {
	text string
	code int
}

// errWithout is an end that kubectl has reported itself.
var errWithout = errors.New("")

func (e end) err() error {
	text := strings.TrimSpace(strings.TrimPrefix(e.text, "error: "))
	if said, see, ok := strings.Cut(text, "\nSee '"); ok {
		call, _, _ := strings.Cut(see, "'")
		return command.Usagef("see '"+strings.TrimSuffix(call, " -h")+" --help'", "%s", said)
	}
	if text == "" {
		return &command.CodeError{Code: e.code, Err: errWithout}
	}
	if e.code > 1 {
		return &command.CodeError{Code: e.code, Err: errors.New(text)}
	}
	return errors.New(text)
}

// Names offers TYPE/NAME of these types to the shell; of none, of all that the cluster
// has.
func Names(f *factory.Factory, types ...string) cobra.CompletionFunc {
	if len(types) == 0 {
		return completion.ResourceTypeAndNameCompletionFunc(Factory(f))
	}
	return completion.SpecifiedResourceTypeAndNameCompletionFunc(Factory(f), types)
}
