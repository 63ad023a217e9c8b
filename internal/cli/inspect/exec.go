package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/kubectl/pkg/cmd/exec"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

const execLong = `Run a command in a container, as kubectl exec does. TYPE/NAME can be of any kind that has
pods, including Kruise's: the command runs in the first pod, in kubectl's order. On a
cluster without Kruise it means the native object that was rendered for it.

--sidecar names a sidecar of a SidecarSet. A sidecar with hot upgrade has two containers of
which one works: the command runs in that one.

The exit status is that of the command.`

const execExample = `  # a shell in the first pod of a CloneSet
  kubectl kruise exec -it cloneset/web -- sh

  # in the working container of the sidecar "proxy"
  kubectl kruise exec web-x2k9p -S proxy -- hostname`

type execOptions struct {
	exec.ExecOptions
	factory *factory.Factory
	kubectl cmdutil.Factory
	sidecar string
	// attachable is how kubectl finds the pod of a native object.
	attachable polymorphichelpers.AttachablePodForObjectFunc
}

// NewExec returns the verb.
func NewExec(f *factory.Factory) *cobra.Command {
	o := &execOptions{factory: f, kubectl: kubectl.Factory(f)}
	c := &cobra.Command{
		Use: "exec (POD | TYPE/NAME) [-c CONTAINER | -S SIDECAR] -- COMMAND [ARG …]", Short: "Run a command in a container", Long: execLong, Example: execExample,
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(c, args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: completion.PodResourceNameCompletionFunc(o.kubectl),
	}
	fl := c.Flags()
	fl.StringVarP(&o.sidecar, "sidecar", "S", "", "run in the working container of this sidecar")
	fl.StringVarP(&o.ContainerName, "container", "c", "", "name of the container (default: the pod's default container, or its first one)")
	fl.BoolVarP(&o.Stdin, "stdin", "i", false, "pass standard input to the container")
	fl.BoolVarP(&o.TTY, "tty", "t", false, "allocate a terminal")
	fl.BoolVarP(&o.Quiet, "quiet", "q", false, "print only the output of the command")
	cmdutil.AddJsonFilenameFlag(fl, &o.Filenames, "that names what to run in")
	cmdutil.AddPodRunningTimeoutFlag(c, time.Minute)
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("container", completion.ContainerCompletionFunc(o.kubectl))
	return c
}

func (o *execOptions) complete(c *cobra.Command, args []string) error {
	dash, err := o.split(c.ArgsLenAtDash(), args)
	if err != nil {
		return err
	}
	o.IOStreams = kubectl.RawStreams(o.factory)
	if err := o.Complete(o.kubectl, c, args, dash); err != nil {
		return kubectl.Err(err)
	}
	if err := o.Validate(); err != nil {
		return command.Usagef("for instance cloneset/web -- hostname", "%w", err)
	}
	o.Executor = execUntil{c.Context()}
	o.attachable = o.ExecutablePodFn
	o.ExecutablePodFn = o.choosePod
	return nil
}

// split reports how many arguments stand before the command. Scripts for the older plugin
// leave the two dashes out.
func (o *execOptions) split(dash int, args []string) (int, error) {
	switch {
	case o.sidecar != "" && o.ContainerName != "":
		return 0, command.Usagef("leave one of them out", "--sidecar and --container both name a container")
	case dash >= 0 || len(args) < 2 || len(o.Filenames) > 0:
		return dash, nil
	}
	_, err := fmt.Fprintln(o.factory.Streams.Err, "kubectl exec [POD] [COMMAND] is DEPRECATED and will be removed in a future version. Use kubectl exec [POD] -- [COMMAND] instead.")
	return 1, err
}

func (o *execOptions) run(ctx context.Context) error {
	if err := o.locate(ctx); err != nil {
		return kubectl.Err(err)
	}
	err := o.Run()
	if exit, ok := errors.AsType[utilexec.CodeExitError](err); ok {
		return &command.CodeError{Code: exit.Code, Err: err}
	}
	if ctx.Err() != nil {
		return command.ErrInterrupted
	}
	return kubectl.Err(err)
}

// locate finds the pod of what kubectl does not know.
func (o *execOptions) locate(ctx context.Context) error {
	find := &resourcearg.Finder{Factory: o.kubectl, Namespace: o.Namespace, Enforce: o.EnforceNamespace}
	var u *unstructured.Unstructured
	var err error
	switch {
	case resourcearg.NamesNonPod(o.ResourceName):
		u, err = find.Named(ctx, o.ResourceName)
	case o.ResourceName == "" && len(o.Filenames) > 0:
		u, err = find.InFile(o.FilenameOptions)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	list, err := find.PodsOf(ctx, u, o.PodClient, o.GetPodTimeout, resourcearg.ByActivity)
	if err != nil {
		return err
	}
	o.ResourceName, o.Namespace, o.Filenames = "pod/"+list[0].Name, list[0].Namespace, nil
	return nil
}

// choosePod returns the pod that an object stands for; from it comes the container of a sidecar.
func (o *execOptions) choosePod(g genericclioptions.RESTClientGetter, object runtime.Object, limit time.Duration) (*corev1.Pod, error) {
	pod, err := o.attachable(g, object, limit)
	if err != nil || o.sidecar == "" {
		return pod, err
	}
	container, hot := resourcearg.WorkingContainer(pod, o.sidecar)
	o.ContainerName = container
	if hot && !o.Quiet {
		_, err = fmt.Fprintf(o.factory.Streams.Err, "Enter working container %s of SidecarSet.\n", container)
	}
	return pod, err
}

// execUntil runs commands until ctx ends.
type execUntil struct{ ctx context.Context } //nolint:containedctx // kubectl's way to call it has none

func (u execUntil) Execute(at *url.URL, c *rest.Config, in io.Reader, out, errs io.Writer, tty bool, size remotecommand.TerminalSizeQueue) error {
	return u.ExecuteWithContext(u.ctx, at, c, in, out, errs, tty, size)
}

func (execUntil) ExecuteWithContext(ctx context.Context, at *url.URL, c *rest.Config, in io.Reader, out, errs io.Writer, tty bool, size remotecommand.TerminalSizeQueue) error {
	return (&exec.DefaultRemoteExecutor{}).ExecuteWithContext(ctx, at, c, in, out, errs, tty, size)
}
