package change

import (
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const subjectExample = `  kubectl kruise set subject rolebinding/deployers --user=ada --group=operators

  kubectl kruise set subject clusterrolebinding/readers --serviceaccount=shop:web`

// subjects are those to add, by how they are named.
type subjects struct {
	users, groups, accounts []string
}

func newSubject(f *factory.Factory) *cobra.Command {
	v := &edit{Factory: f, Done: "subjects updated", Types: []string{"rolebinding", "clusterrolebinding"}}
	var add subjects
	c := &cobra.Command{
		Use:   "subject (-f FILENAME | TYPE NAME) [--user=USER] [--group=GROUP] [--serviceaccount=NAMESPACE:NAME]",
		Short: "Add subjects to a RoleBinding or ClusterRoleBinding",
		Long:  "Add subjects to RoleBindings and ClusterRoleBindings. Those that are there stay.", Example: subjectExample,
		RunE: func(c *cobra.Command, args []string) error {
			if err := add.validate(); err != nil {
				return err
			}
			if err := v.Complete(c, args); err != nil {
				return err
			}
			namespace, err := f.NamespaceOrDefault()
			if err != nil && !v.Local() {
				return err
			}
			return v.Each(args, func(u *unstructured.Unstructured) error { return add.addTo(u, namespace) })
		},
	}
	v.AddFlags(c)
	fl := c.Flags()
	fl.StringArrayVar(&add.users, "user", nil, "users to add")
	fl.StringArrayVar(&add.groups, "group", nil, "groups to add")
	fl.StringArrayVar(&add.accounts, "serviceaccount", nil, "service accounts to add, NAMESPACE:NAME")
	return c
}

func (s *subjects) validate() error {
	if len(s.users)+len(s.groups)+len(s.accounts) == 0 {
		return command.Usagef("for instance --user=ada", "you must specify at least one value of user, group or serviceaccount")
	}
	for _, a := range s.accounts {
		if _, name, ok := strings.Cut(a, ":"); !ok || name == "" || strings.Contains(name, ":") {
			return command.Usagef("for instance shop:web", "--serviceaccount: %q is not <namespace>:<name>", a)
		}
	}
	return nil
}

// addTo adds those to a binding that it does not have; of a service account without a
// namespace it is the one given.
func (s *subjects) addTo(u *unstructured.Unstructured, namespace string) error {
	kind := u.GetKind()
	if u.GroupVersionKind().Group != rbacv1.GroupName || kind != "RoleBinding" && kind != "ClusterRoleBinding" {
		return &tree.Error{Msg: "setting subjects is only supported for RoleBinding/ClusterRoleBinding"}
	}
	if kind == "ClusterRoleBinding" && slices.ContainsFunc(s.accounts, func(a string) bool { return strings.HasPrefix(a, ":") }) {
		return &tree.Error{Msg: "serviceaccount must be <namespace>:<name>, namespace must be specified"}
	}
	have, _ := u.Object["subjects"].([]any)
	for _, add := range s.list(namespace) {
		if !slices.ContainsFunc(have, func(v any) bool { return reflect.DeepEqual(v, add) }) {
			have = append(have, add)
		}
	}
	u.Object["subjects"] = have
	return nil
}

func (s *subjects) list(namespace string) []any {
	var out []any
	for _, user := range sortedUnique(s.users) {
		out = append(out, map[string]any{"kind": rbacv1.UserKind, "apiGroup": rbacv1.GroupName, "name": user})
	}
	for _, group := range sortedUnique(s.groups) {
		out = append(out, map[string]any{"kind": rbacv1.GroupKind, "apiGroup": rbacv1.GroupName, "name": group})
	}
	for _, account := range sortedUnique(s.accounts) {
		in, name, _ := strings.Cut(account, ":")
		if in == "" {
			in = namespace
		}
		out = append(out, map[string]any{"kind": rbacv1.ServiceAccountKind, "namespace": in, "name": name})
	}
	return out
}

func sortedUnique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
