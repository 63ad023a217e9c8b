package render

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

type convertOptions struct {
	streamOptions

	to         []string
	names      []string
	selector   string
	policy     string
	operations []string
	forget     bool
	kubernetes string

	version string
}

var (
	versions          = []string{kruise.V1alpha1, kruise.V1beta1}
	policies          = []string{"ReCreate", "InPlaceIfPossible", "InPlaceOnly"}
	protectOperations = []string{"DELETE", "UPDATE", "EVICT", "RESIZE"}
)

func (o *convertOptions) addFlags(c *cobra.Command) {
	fl := c.Flags()
	o.streamOptions.addFlags(c, "the newest", "show exact findings too")
	fl.StringSliceVar(&o.to, "to", nil, "target kinds: "+words(engine.Words()))
	fl.StringSliceVar(&o.names, "name", nil, "with --to: convert only objects with these names")
	fl.StringVarP(&o.selector, "selector", "l", "", "with --to: convert only objects that this label selector matches")
	fl.StringVar(&o.policy, "pod-update-policy", policies[0], "update policy of Kruise workloads: "+words(policies)+" (default: the first, as native ones have)")
	fl.StringSliceVar(&o.operations, "protect-operations", nil, "operations that a PodUnavailableBudget protects from: "+words(protectOperations)+" (default EVICT, as a PodDisruptionBudget)")
	fl.BoolVar(&o.forget, "forget", false, "leave out the annotation from which a later conversion restores what was lost")
	fl.StringVar(&o.kubernetes, "kubernetes-version", "", "version of the API server that native objects are for (default: the newest)")
	fl.StringVar(&o.version, "to-version", "", "API version to write: "+words(versions))
	for flag, values := range map[string][]string{
		"to": engine.Words(), "to-version": versions, "pod-update-policy": policies, "protect-operations": protectOperations,
	} {
		command.Offer(c, flag, values...)
	}
}

// validate reads the flags; everything wrong with them is an error of usage.
func (o *convertOptions) validate() (engine.Options, error) {
	opt := engine.Options{Forget: o.forget, Namespace: o.factory.Namespace()}
	if err := o.streamOptions.validate(); err != nil {
		return opt, err
	}
	if len(o.to) == 0 && o.version == "" {
		return opt, command.Usagef("give --to KIND or --to-version VERSION", "nothing to convert to")
	}
	if o.version != "" {
		if err := command.OneOf("to-version", o.version, versions...); err != nil {
			return opt, err
		}
	}
	return opt, o.kinds(&opt)
}

// kinds reads the flags that belong to --to.
func (o *convertOptions) kinds(opt *engine.Options) (err error) {
	if opt.Targets, err = engine.ParseTargets(o.to); err != nil {
		return command.Usagef("one or more of: "+words(engine.Words()), "--to: %w", err)
	}
	if err := command.OneOf("pod-update-policy", o.policy, policies...); err != nil {
		return err
	}
	opt.Raise = engine.RaiseOptions{PodUpdatePolicy: kruise.PodUpdateStrategyType(o.policy)}
	for _, op := range o.operations {
		if op = strings.ToUpper(op); !slices.Contains(protectOperations, op) {
			return command.Usagef("one or more of: "+words(protectOperations), "--protect-operations: unknown value %q", op)
		}
		opt.Raise.ProtectOperations = append(opt.Raise.ProtectOperations, kruise.PubOperation(op))
	}
	if o.kubernetes != "" {
		if opt.Kubernetes, err = stage.ParseKubernetes(o.kubernetes); err != nil {
			return command.Usagef("for instance 1.36", "--kubernetes-version: %w", err)
		}
	}
	opt.Names = o.names
	if opt.Selector, err = labels.Parse(o.selector); err != nil {
		return command.Usagef("for instance -l app=web", "--selector: %w", err)
	}
	return nil
}
