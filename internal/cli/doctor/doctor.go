// Package doctor has the verb that looks over a cluster, this program and the account,
// and says what would be in the way of work. It writes nothing.
package doctor

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

const long = `Check this program, the cluster and your account for problems: the plugin that kubectl
runs, the server, Kruise, the kinds that it serves, its feature gates, webhooks and
daemons, your permissions in the namespace, and the clock.

Every line is ok, warn or fail, with a hint where there is something to do. The exit
code is 1 if a line fails. Nothing is written.`

const example = `  kubectl kruise doctor

  # may the pipeline's account roll out here?
  kubectl kruise doctor -n shop --as system:serviceaccount:ci:deployer

  # for programs
  kubectl kruise doctor -o json

  # what kustomize would leave out without a word
  kubectl kruise doctor kustomize overlays/prod`

type options struct {
	factory *factory.Factory
	output  string
}

var outputs = []string{"text", "json"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use: "doctor", Short: "Check the cluster, Kruise and your permissions", Long: long, Example: example,
		Args: command.NoArgs("to check a kustomization: kubectl kruise doctor kustomize DIR"),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	c.PersistentFlags().StringVarP(&o.output, "output", "o", outputs[0], "text or json")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	c.AddCommand(o.kustomize())
	return c
}

func (o *options) run(ctx context.Context) error {
	if err := command.OneOf("output", o.output, outputs...); err != nil {
		return err
	}
	lines := client(o.factory.Streams.Getenv)
	p, err := o.patient()
	if err != nil {
		return err
	}
	return o.report(append(lines, p.look(ctx)...))
}

// patient is the cluster that is looked over.
type patient struct {
	core      kubernetes.Interface
	objects   dynamic.Interface
	namespace string
	// clock asks the server for the time.
	clock func(context.Context) (time.Time, error)
	now   func() time.Time
}

func (o *options) patient() (*patient, error) {
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
	return &patient{
		core: core, objects: objects, namespace: namespace, now: time.Now,
		clock: func(ctx context.Context) (time.Time, error) { return date(ctx, cfg) },
	}, nil
}

// look makes all checks. Those that need a server are left out where it does not answer.
func (p *patient) look(ctx context.Context) []verdict.Line {
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

// date is the time that the server writes into its answers, to the second.
func date(ctx context.Context, cfg *rest.Config) (time.Time, error) {
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return time.Time{}, err
	}
	host, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host.JoinPath("version").String(), nil)
	if err != nil {
		return time.Time{}, err
	}
	answer, err := c.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	return http.ParseTime(answer.Header.Get("Date"))
}
