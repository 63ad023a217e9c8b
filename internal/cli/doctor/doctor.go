// Package doctor has the verbs that look for causes: doctor checks this program, the cluster,
// the account and the functions of kustomizations, and why explains a rollout that makes no
// progress, a pod, or a missing sidecar. They read and never write.
package doctor

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

const doctorLong = `Check this program, the cluster and your account for problems: the plugin that kubectl
runs, the server, Kruise, the kinds that it serves, its feature gates, webhooks and
daemons, your permissions in the namespace, and the clock.

Every line is ok, warn or fail, with a hint where something is to be done. The exit
code is 1 if a line fails. Nothing is written.`

const doctorExample = `  kubectl kruise doctor

  # can the account of a pipeline roll out in this namespace?
  kubectl kruise doctor -n shop --as system:serviceaccount:ci:deployer

  # as JSON
  kubectl kruise doctor -o json

  # functions that kustomize would skip silently
  kubectl kruise doctor kustomize overlays/prod`

type doctorOptions struct {
	factory *factory.Factory
	output  string
}

var doctorOutputs = []string{"text", "json"}

// NewDoctor returns the verb.
func NewDoctor(f *factory.Factory) *cobra.Command {
	o := &doctorOptions{factory: f}
	c := &cobra.Command{
		Use: "doctor", Short: "Check the cluster, Kruise and your permissions", Long: doctorLong, Example: doctorExample,
		Args: command.NoArgs("to check a kustomization: 'kubectl kruise doctor kustomize DIR'"),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	c.PersistentFlags().StringVarP(&o.output, "output", "o", doctorOutputs[0], "output format: text or json")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(doctorOutputs, cobra.ShellCompDirectiveNoFileComp))
	c.AddCommand(o.kustomize())
	return c
}

func (o *doctorOptions) run(ctx context.Context) error {
	if err := command.OneOf("output", o.output, doctorOutputs...); err != nil {
		return err
	}
	lines := clientLines(o.factory.Streams.Getenv)
	p, err := o.patient()
	if err != nil {
		return err
	}
	work := o.factory.Working("checking the cluster")
	lines = append(lines, p.checkAll(ctx)...)
	work.Stop()
	return o.report(lines)
}

// inspection is the cluster that is looked over.
type inspection struct {
	core      kubernetes.Interface
	objects   dynamic.Interface
	namespace string
	clocks    clocks
}

func (o *doctorOptions) patient() (*inspection, error) {
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return nil, err
	}
	core, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	objects, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return &inspection{
		core: core, objects: objects, namespace: namespace, clocks: clusterClocks{cfg},
	}, nil
}

// checkAll makes all checks. Those that need a server are left out where it does not answer.
func (p *inspection) checkAll(ctx context.Context) []verdictLine {
	out, ok := p.server()
	if !ok {
		return out
	}
	served, lines := p.kinds()
	out = append(out, lines...)
	if len(served) > 0 {
		out = append(out, p.definitions(ctx)...)
		out = append(out, p.manager(ctx, served)...)
		out = append(out, p.release(ctx))
		out = append(out, p.webhooks(ctx)...)
		out = append(out, p.daemons(ctx)...)
	}
	out = append(out, p.rights(ctx, len(served) > 0)...)
	return append(out, p.skew(ctx))
}

// clocks are the server's and ours.
type clocks interface {
	there(ctx context.Context) (time.Time, error)
	here() time.Time
}

type clusterClocks struct{ cfg *rest.Config }

func (clusterClocks) here() time.Time { return time.Now() }

// there is the time that the server writes into its answers, to the second.
func (c clusterClocks) there(ctx context.Context) (time.Time, error) {
	client, err := rest.HTTPClientFor(c.cfg)
	if err != nil {
		return time.Time{}, err
	}
	host, _, err := rest.DefaultServerUrlFor(c.cfg)
	if err != nil {
		return time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host.JoinPath("version").String(), nil)
	if err != nil {
		return time.Time{}, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	return http.ParseTime(answer.Header.Get("Date"))
}

// statusColors are those of a terminal, by status.
var statusColors = map[verdictStatus]string{okVerdict: "32", warnVerdict: "33", fail: "31"}

// report writes all lines; one that fails is the exit code.
func (o *doctorOptions) report(lines []verdictLine) error {
	write := func() error {
		lines := slices.Clone(lines)
		for i := range lines {
			lines[i].Hint = o.factory.Copyable(lines[i].Hint)
		}
		return writeVerdictText(o.factory.Streams.Out, lines, o.paint(o.factory.OutStyle(false).Color))
	}
	if o.output == "json" {
		write = func() error { return writeVerdictJSON(o.factory.Streams.Out, lines) }
	}
	if err := write(); err != nil {
		return err
	}
	if countVerdicts(lines, fail) > 0 {
		return &command.CodeError{Code: 1, Err: errors.New("")}
	}
	return nil
}

func (o *doctorOptions) paint(colour bool) func(verdictStatus, string) string {
	return func(s verdictStatus, word string) string {
		if !colour {
			return word
		}
		return text.Paint(statusColors[s], word)
	}
}
