package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/logs"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

const logsLong = `Print the logs of containers, as kubectl logs does. TYPE/NAME can be of any kind that has
pods, including Kruise's: the logs are those of one pod, or with --all-pods of all. On a
cluster without Kruise it means the native object that was rendered for it.

--sidecar names a sidecar of a SidecarSet. A sidecar with hot upgrade has two containers of
which one works: the logs are those of that one, in each pod.`

const logsExample = `  # follow all pods of a CloneSet
  kubectl kruise logs -f cloneset/web --all-pods

  # the sidecar "proxy" of all pods with a label, the last 20 lines of each
  kubectl kruise logs -l app=web -S proxy --tail 20

  # all containers of one pod
  kubectl kruise logs web-x2k9p --all-containers`

type logsOptions struct {
	*logs.LogsOptions
	kubectl cmdutil.Factory
	sidecar string
}

// NewLogs returns the verb.
func NewLogs(f *factory.Factory) *cobra.Command {
	o := &logsOptions{LogsOptions: logs.NewLogsOptions(kubectl.RawStreams(f)), kubectl: kubectl.Factory(f)}
	c := &cobra.Command{
		Use: "logs (POD | TYPE/NAME | -l SELECTOR) [-c CONTAINER | -S SIDECAR]", Short: "Print the logs of containers", Long: logsLong, Example: logsExample,
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(c, args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: completion.PodResourceNameAndContainerCompletionFunc(o.kubectl),
	}
	o.AddFlags(c)
	c.Flags().StringVarP(&o.sidecar, "sidecar", "S", "", "print the log of the working container of this sidecar")
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("container", completion.ContainerCompletionFunc(o.kubectl))
	return c
}

// run prints the logs, to the end or until it is interrupted.
func (o *logsOptions) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type found = map[corev1.ObjectReference]rest.ResponseWrapper
	one, all := o.LogsForObject, o.AllPodLogsForObject
	o.LogsForObject = func(g genericclioptions.RESTClientGetter, object, opt runtime.Object, d time.Duration, containers bool) (found, error) {
		kubectl.TakeSignals(cancel)
		return one(g, object, opt, d, containers)
	}
	o.AllPodLogsForObject = func(g genericclioptions.RESTClientGetter, object, opt runtime.Object, d time.Duration, containers bool) (found, error) {
		kubectl.TakeSignals(cancel)
		return all(g, object, opt, d, containers)
	}
	o.ErrOut = writeUntil{ctx, o.ErrOut}
	return kubectl.Interrupted(ctx, kubectl.Err(o.RunLogsContext(ctx)))
}

// writeUntil is a writer until ctx ends: that a stream broke then is no error.
type writeUntil struct {
	ctx context.Context //nolint:containedctx // it is what the writer lasts as long as
	io.Writer
}

func (u writeUntil) Write(p []byte) (int, error) {
	select {
	case <-u.ctx.Done():
		return len(p), nil
	default:
		return u.Writer.Write(p)
	}
}

func (o *logsOptions) complete(c *cobra.Command, args []string) error {
	if o.sidecar != "" && (o.Container != "" || len(args) > 1 || o.AllContainers) {
		return command.Usagef("leave it out", "--sidecar names the container itself")
	}
	if len(args) > 0 && o.Selector == "" && resourcearg.NamesNonPod(args[0]) {
		if err := o.choose(c, args[0]); err != nil {
			return kubectl.Err(err)
		}
	}
	if err := o.Complete(o.kubectl, c, args); err != nil {
		return kubectl.Err(err)
	}
	if err := o.Validate(); err != nil {
		return command.Usagef("", "%w", err)
	}
	if o.sidecar != "" {
		o.LogsForObject = o.workingOf(logsForObject(o.LogsForObject))
		o.AllPodLogsForObject = o.workingOf(logsForObject(o.AllPodLogsForObject))
	}
	return nil
}

// choose finds the pods of an object.
func (o *logsOptions) choose(c *cobra.Command, arg string) error {
	namespace, enforce, err := o.kubectl.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	limit, err := cmdutil.GetPodRunningTimeoutFlag(c)
	if err != nil {
		return command.Usagef("", "%w", err)
	}
	list, err := o.podsOf(c.Context(), &resourcearg.Finder{Factory: o.kubectl, Namespace: namespace, Enforce: enforce}, arg, limit)
	if err != nil {
		return err
	}
	switch {
	case len(list) == 0:
		return errors.New("no pods")
	case o.AllPods:
		o.Object = &corev1.PodList{Items: list}
		return nil
	case len(list) > 1:
		_, err = fmt.Fprintf(o.ErrOut, "Found %s, using pod/%s\n", counted.Of(len(list), "pod"), list[0].Name)
	}
	o.Object = &list[0]
	return err
}

func (o *logsOptions) podsOf(ctx context.Context, find *resourcearg.Finder, arg string, limit time.Duration) ([]corev1.Pod, error) {
	u, err := find.Named(ctx, arg)
	if err != nil {
		return nil, err
	}
	cfg, err := o.kubectl.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return find.PodsOf(ctx, u, client, limit, resourcearg.ByLogging)
}

// logRequests are the logs to read, by the containers that they are of.
type logRequests = map[corev1.ObjectReference]rest.ResponseWrapper

type logsForObject func(g genericclioptions.RESTClientGetter, object, options runtime.Object, limit time.Duration, allContainers bool) (logRequests, error)

// workingOf has each pod asked for the container of the sidecar that works in it.
func (o *logsOptions) workingOf(next logsForObject) func(genericclioptions.RESTClientGetter, runtime.Object, runtime.Object, time.Duration, bool) (logRequests, error) {
	return func(g genericclioptions.RESTClientGetter, object, given runtime.Object, limit time.Duration, all bool) (logRequests, error) {
		out := logRequests{}
		for _, pod := range podsInObject(object) {
			options, _ := given.DeepCopyObject().(*corev1.PodLogOptions)
			container, hot := resourcearg.WorkingContainer(pod, o.sidecar)
			if options.Container = container; hot {
				if _, err := fmt.Fprintf(o.ErrOut, "Working container of %s in pod/%s: %s\n", o.sidecar, pod.Name, container); err != nil {
					return nil, err
				}
			}
			of, err := next(g, pod, options, limit, all)
			if err != nil {
				return nil, err
			}
			maps.Copy(out, of)
		}
		return out, nil
	}
}

// podsInObject are the pods that were found: those of anything else were looked for before.
func podsInObject(object runtime.Object) []*corev1.Pod {
	switch o := object.(type) {
	case *corev1.Pod:
		return []*corev1.Pod{o}
	case *corev1.PodList:
		out := make([]*corev1.Pod, len(o.Items))
		for i := range o.Items {
			out[i] = &o.Items[i]
		}
		return out
	}
	return nil
}
