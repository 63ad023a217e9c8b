package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/rbac"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

type rbacOptions struct {
	factory  *factory.Factory
	drivers  []string
	features []string
	name     string
	bind     string
	within   string
	person   string
	// runner asks for the account of Jobs of --detach, in a namespace.
	runner    bool
	namespace string
}

var (
	drivers  = []string{string(plan.DriverKruise), string(plan.DriverNative), string(plan.DriverClient)}
	features = stringsOf(rbac.Features)
	// known are all that may be asked for.
	known = append(stringsOf(rbac.Features), string(rbac.Apply), string(rbac.Approve), string(rbac.Screens), string(rbac.Lint))
	// roles are the drivers and features of three people.
	roles = map[string]struct{ drivers, features []string }{
		"watch":   {nil, []string{string(rbac.Screens), string(rbac.Lint)}},
		"approve": {nil, []string{string(rbac.Screens), string(rbac.Lint), string(rbac.Approve)}},
		"run":     {drivers, features},
	}
	roleNames = []string{"watch", "approve", "run"}
)

func stringsOf[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

const rbacLong = `Print the ClusterRole with all permissions that plans and rollouts need, and no
others. Bound in one namespace by a RoleBinding it is enough for the workloads of
that namespace. A second, small role is for nodes and namespaces, which are cluster-scoped.

A rollout names the permissions that are missing before it writes anything.`

const rbacExample = `  # everything
  kubectl kruise rbac | kubectl apply -f -

  # a pipeline that only moves partitions, and its account
  kubectl kruise rbac --driver kruise --features "" --bind ci/deployer

  # a pipeline that also writes whole manifests: kubectl kruise apply
  kubectl kruise rbac --features pull,verify,scale,apply --bind ci/deployer

  # a user who only watches: kubectl kruise ui --read-only, rollout status -A, lint --live
  kubectl kruise rbac --role watch --name watcher

  # a user who promotes, pauses and aborts the rollouts of a pipeline, in one namespace
  kubectl kruise rbac --role approve --name approver --bind shop/release-manager --in shop

  # the ServiceAccount of Jobs that run rollouts (rollout run --detach), for one namespace
  kubectl kruise rbac --runner --driver kruise --features pull --in shop | kubectl apply -f -

  # without Kruise, pods updated by this program
  kubectl kruise rbac --driver native,client --name rollouts`

// NewRBAC returns the verb.
func NewRBAC(f *factory.Factory) *cobra.Command {
	o := &rbacOptions{factory: f}
	c := &cobra.Command{
		Use:     "rbac",
		Short:   "Print the ClusterRole that rollouts need",
		Long:    rbacLong,
		Example: rbacExample,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usagef("", "rbac takes no arguments")
			}
			if err := o.choose(c); err != nil {
				return err
			}
			return o.run()
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.person, "role", "run", "watch (read only), approve (also promote, pause and abort rollouts of other executors) or run (everything that --driver and --features allow)")
	fl.StringSliceVar(&o.drivers, "driver", drivers, "drivers to allow: "+strings.Join(drivers, ", "))
	fl.StringSliceVar(&o.features, "features", features, "further permissions of rollouts: "+strings.Join(features, ", ")+"; apply, ui and lint are those of the verbs")
	fl.StringVar(&o.name, "name", "kubectl-kruise", "name of the roles")
	fl.StringVar(&o.bind, "bind", "", "also print bindings for a service account, NAMESPACE/NAME")
	fl.StringVar(&o.within, "in", "", "namespace in which --bind and --runner grant the role (default: all); the second role is granted in the whole cluster")
	fl.BoolVar(&o.runner, "runner", false, "print the ServiceAccount for Jobs of 'rollout run --detach', with its namespace, roles and bindings")
	fl.StringVar(&o.namespace, "runner-namespace", runner.Namespace, "namespace of that ServiceAccount")
	command.Offer(c, "role", roleNames...)
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(drivers, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("features", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// choose sets drivers and features by --role.
func (o *rbacOptions) choose(c *cobra.Command) error {
	if err := command.OneOf("role", o.person, roleNames...); err != nil {
		return err
	}
	if o.runner {
		return o.chooseRunner(c)
	}
	if c.Flags().Changed("runner-namespace") {
		return command.Usagef("add --runner", "--runner-namespace is for the ServiceAccount of --runner")
	}
	if o.within != "" && o.bind == "" {
		return command.Usagef("add --bind NAMESPACE/NAME", "--in: no binding is printed")
	}
	if o.person == "run" {
		return nil
	}
	if c.Flags().Changed("driver") || c.Flags().Changed("features") {
		return command.Usagef("leave out --role, and name the features that you want", "--role %s has no --driver and no --features", o.person)
	}
	o.drivers, o.features = roles[o.person].drivers, roles[o.person].features
	return nil
}

// chooseRunner sets what --runner means.
func (o *rbacOptions) chooseRunner(c *cobra.Command) error {
	for _, flag := range []string{"role", "bind"} {
		if c.Flags().Changed(flag) {
			return command.Usagef("leave one of them out", "--runner has a role and an account of its own: --%s does not go with it", flag)
		}
	}
	if !c.Flags().Changed("name") {
		o.name = runner.ServiceAccount
	}
	o.bind = o.namespace + "/" + runner.ServiceAccount
	return nil
}

func (o *rbacOptions) run() error {
	for _, check := range []struct {
		flag        string
		given, know []string
	}{{"driver", o.drivers, drivers}, {"features", o.features, known}} {
		for _, v := range check.given {
			if !slices.Contains(check.know, v) {
				return command.Usagef("one or more of: "+strings.Join(check.know, ", "), "--%s: unknown value %q", check.flag, v)
			}
		}
	}
	list, err := o.objects()
	if err != nil {
		return err
	}
	for i, object := range list {
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if i > 0 {
			_, _ = fmt.Fprintln(o.factory.Streams.Out, "---")
		}
		if _, err := o.factory.Streams.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// objects are the roles, and the bindings where they are asked for.
func (o *rbacOptions) objects() ([]any, error) {
	var who []plan.Driver
	for _, d := range o.drivers {
		who = append(who, plan.Driver(d))
	}
	var what []rbac.Feature
	for _, f := range o.features {
		what = append(what, rbac.Feature(f))
	}
	if o.runner {
		what = append(what, rbac.Runner)
	}
	needs := rbac.All(who, what)
	wide := func(n rbac.Need) bool { return n.Where == rbac.Everywhere }
	here, all := rbac.Rules(needs, func(n rbac.Need) bool { return !wide(n) }), rbac.Rules(needs, wide)
	var out []any
	if o.runner {
		out, all = o.account(), append(all, clusterIdentity)
	}
	out = append(out, o.role("", here), o.role("-cluster", all))
	if o.bind == "" {
		return out, nil
	}
	namespace, account, ok := strings.Cut(o.bind, "/")
	if !ok || namespace == "" || account == "" {
		return nil, command.Usagef("for instance ci/deployer", "--bind: %q is not NAMESPACE/NAME", o.bind)
	}
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}
	return append(out, o.binding("", o.within, subject), o.binding("-cluster", "", subject)), nil
}

// clusterIdentity is read to tell whether a plan was approved for this cluster
// (internal/cli/planning/approval.go).
var clusterIdentity = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{metav1.NamespaceSystem}, Verbs: []string{"get"}}

// account are the namespace of runners and their ServiceAccount, which no pod gets a token of
// by default. A namespace that has workloads as well is not printed: it is not of runners
// alone.
func (o *rbacOptions) account() []any {
	off := false
	account := &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: runner.ServiceAccount}, AutomountServiceAccountToken: &off,
	}
	if o.namespace != runner.Namespace {
		return []any{account}
	}
	const level = "restricted"
	return []any{&corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: o.namespace, Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/warn": level,
		}},
	}, account}
}

func (o *rbacOptions) role(suffix string, rules []rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: o.name + suffix}, Rules: rules,
	}
}

// binding grants a role in a namespace, or in all for "".
func (o *rbacOptions) binding(suffix, within string, who rbacv1.Subject) any {
	version := rbacv1.SchemeGroupVersion.String()
	meta := metav1.ObjectMeta{Name: o.name + suffix, Namespace: within}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: o.name + suffix}
	if within != "" {
		return &rbacv1.RoleBinding{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "RoleBinding"}, ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{who}}
	}
	return &rbacv1.ClusterRoleBinding{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "ClusterRoleBinding"}, ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{who}}
}
