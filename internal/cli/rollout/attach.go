package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	tty "github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func newAttach(shared *session.Client, screens Screens) *cobra.Command {
	return &cobra.Command{
		Use: "attach TYPE/NAME", Short: "Open the terminal interface on a rollout",
		Long: `Open the terminal interface on the rollout of a workload, which runs in a Job of
--detach or in a process on another machine. Keys promote, pause and abort it. Closing
the interface does not stop the rollout.`,
		Example: "  kubectl kruise rollout attach cloneset/web",
		RunE: func(c *cobra.Command, args []string) error {
			name, err := resourcearg.ParseOne(args)
			if err != nil {
				return err
			}
			if err := tty.Check(shared.Factory.Streams, "'kubectl kruise rollout status --watch' prints lines"); err != nil {
				return err
			}
			s, err := shared.Locate(c.Context(), name)
			if err != nil {
				return err
			}
			live := live.New(c.Context(), shared.Factory, shared.StateNamespace)
			defer live.Close()
			return screens(c.Context(), shared.Factory, live, s.Target.Ref)
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.Factory),
	}
}

// logsOptions are those of the log of a Job of --detach.
type logsOptions struct {
	*session.Client

	name resourcearg.Name
	// group is the name of a group, instead of a workload.
	group     string
	namespace string
	follow    bool
	tail      int64
}

func newLogs(shared *session.Client) *cobra.Command {
	o := &logsOptions{Client: shared}
	c := &cobra.Command{
		Use: "logs (TYPE/NAME | --group NAME)", Short: "Print the log of the Job that runs a rollout",
		Long: `Print the log of the newest pod of the Job that runs the rollout of a workload, or that
ran its last one. Its events are also on the workload: see 'kubectl kruise rollout
status' and 'kubectl events'.`,
		Example: "  kubectl kruise rollout logs cloneset/web -f",
		RunE: func(c *cobra.Command, args []string) (err error) {
			switch {
			case o.group == "":
				o.name, err = resourcearg.ParseOne(args)
			case len(args) > 0:
				err = errGroupAndName()
			}
			if err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.Factory),
	}
	c.Flags().StringVar(&o.group, "group", "", "name of a group of rollouts: print the log of its Job")
	c.Flags().StringVar(&o.namespace, "runner-namespace", runner.Namespace, "namespace of the Job")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new lines until the log ends")
	c.Flags().Int64Var(&o.tail, "tail", -1, "only so many of the last lines; -1 is all")
	return c
}

func (o *logsOptions) run(ctx context.Context) error {
	of, what, err := o.subject(ctx)
	if err != nil {
		return err
	}
	client, err := o.Clientset()
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(o.namespace).List(ctx, metav1.ListOptions{LabelSelector: runner.Selector(of)})
	if err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return &resource.Error{
			Err:  fmt.Errorf("no Job in namespace %s carries out the rollout of %s, or its pod is gone", o.namespace, what),
			Hint: "--runner-namespace names another; 'kubectl kruise rollout status " + strings.Replace(what, "group ", "--group ", 1) + "' names the executor",
		}
	}
	last := slices.MaxFunc(pods.Items, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	opt := &corev1.PodLogOptions{Follow: o.follow}
	if o.tail >= 0 {
		opt.TailLines = &o.tail
	}
	log, err := client.CoreV1().Pods(o.namespace).GetLogs(last.Name, opt).Stream(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(o.Factory.Streams.Out, log)
	return errors.Join(err, log.Close())
}

// subject is what the Job carries out, and how a person reads it.
func (o *logsOptions) subject(ctx context.Context) (of cluster.Ref, what string, err error) {
	if o.group != "" {
		namespace, err := o.Factory.NamespaceOrDefault()
		return runner.GroupRef(namespace, o.group), "group " + o.group, err
	}
	s, err := o.Locate(ctx, o.name)
	if err != nil {
		return of, "", err
	}
	return s.Target.Ref, s.Target.String(), nil
}
