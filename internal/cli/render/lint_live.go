package render

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// lintLive says what of a cluster is looked at.
type lintLive struct {
	on, everywhere bool
	selector       string
}

func (l *lintLive) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&l.on, "live", false, "check the objects in the cluster instead of files")
	c.Flags().BoolVarP(&l.everywhere, "all-namespaces", "A", false, "with --live: in all namespaces")
	c.Flags().StringVarP(&l.selector, "selector", "l", "", "with --live: objects that this label selector matches")
}

func (l *lintLive) given() bool { return l.on || l.everywhere || l.selector != "" }

// validate refuses what goes with files alone. Errors are of usage.
func (l *lintLive) validate(o *lintOptions) error {
	switch {
	case !l.on:
		return command.Usagef("add --live to look at a cluster", "-A and -l go with --live")
	case o.Given() || len(o.old)+len(o.with) > 0:
		return command.Usagef("render --live and inventory give files what a cluster knows", "--live excludes -f, -k, --against and --with")
	case o.operation != "" || o.known:
		return command.Usagef("what is in the cluster exists, and nothing is sent", "--live excludes --operation and --complete")
	case l.everywhere && o.factory.Namespace() != "":
		return command.Usagef("leave one of them out", "-A and -n exclude each other")
	}
	if err := clusterread.ParseSelector(l.selector); err != nil {
		return command.Usagef("such as app=web,tier!=test", "--selector: %v", err)
	}
	return nil
}

// place says in words where objects are looked for; a namespace that is not there reads
// as an empty one.
func (l *lintLive) place(namespace string) string {
	text := "in all namespaces"
	if namespace != "" {
		text = "in namespace " + namespace
	}
	if l.selector != "" {
		text += " with labels " + l.selector
	}
	return text
}

// finders are the rules that need to know every pod that there is.
var finders = []string{"sidecarset/matches-nothing", "podunavailablebudget/covers-nothing"}

// inCluster looks at what the cluster holds. An object that is there was taken, so each
// is an update of itself: what only a creation is asked for does not count.
func (o *lintOptions) inCluster(ctx context.Context) ([]engine.Problem, error) {
	cluster, err := clusterread.Connect(o.factory)
	if err != nil {
		return nil, err
	}
	namespace := ""
	if !o.live.everywhere {
		if namespace, err = o.factory.NamespaceOrDefault(); err != nil {
			return nil, err
		}
	}
	o.factory.Spare()
	found, err := clusterread.ReadKruiseObjects(ctx, cluster, namespace, o.live.selector)
	if err != nil {
		return nil, err
	}
	for _, s := range found.Skipped {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: not checked: %s\n", s)
	}
	if len(found.Objects) == 0 {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: there are no objects of Kruise %s\n", o.live.place(namespace))
	}
	o.checked = len(found.Objects)
	q := engine.Request{
		Objects: found.Objects, Old: found.Objects, Context: found.Context, Namespace: namespace, Disabled: o.disable,
		Known: len(found.Skipped) == 0, Kruise: o.kruise.Or(found.Kruise.Release), Limits: o.Limits.Stage(),
	}
	return withPods(ctx, cluster, q)
}

// withPods answers a question, with the pods that are there where objects find none among
// templates.
func withPods(ctx context.Context, cluster clusterread.Cluster, q engine.Request) ([]engine.Problem, error) {
	problems := engine.Run(ctx, q)
	doubtful := slices.DeleteFunc(slices.Clone(q.Objects), func(r *resource.Resource) bool {
		return !slices.ContainsFunc(problems, func(p engine.Problem) bool { return p.Object == r.ID() && slices.Contains(finders, p.Rule) })
	})
	pods, err := clusterread.ReadSelectedPods(ctx, cluster, doubtful)
	if err != nil || len(pods) == 0 {
		return problems, err
	}
	q.Context = append(q.Context, pods...)
	return engine.Run(ctx, q), nil
}
