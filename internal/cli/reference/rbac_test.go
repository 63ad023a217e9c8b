package reference

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// rolesFor runs the verb.
func rolesFor(t *testing.T, args ...string) ([]rbacv1.ClusterRole, string, error) {
	t.Helper()
	var out bytes.Buffer
	c := NewRBAC(factory.New(factory.Streams{Out: &out, Err: &out}))
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	var roles []rbacv1.ClusterRole
	for doc := range strings.SplitSeq(out.String(), "---\n") {
		var r rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(doc), &r); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, r)
	}
	return roles, out.String(), err
}

// may reports whether a role has a permission.
func may(r rbacv1.ClusterRole, verb, group, resource string) bool {
	return slices.ContainsFunc(r.Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.Verbs, verb) && slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource)
	})
}

func TestRBAC_Roles(t *testing.T) {
	type right struct{ verb, group, resource string }
	evict, crr := right{"create", "", "pods/eviction"}, right{"create", "apps.kruise.io", "containerrecreaterequests"}
	clones, sets := right{"patch", "apps.kruise.io", "clonesets"}, right{"patch", "apps", "statefulsets"}
	record := right{"create", "", "configmaps"}
	for name, c := range map[string]struct {
		args       []string
		has, lacks []right
	}{
		"all":         {nil, []right{evict, crr, clones, sets, record}, nil},
		"kruise only": {[]string{"--driver", "kruise"}, []right{crr, clones, record}, []right{evict, sets}},
		"no features": {[]string{"--features", ""}, []right{evict, clones}, []right{crr}},
		"apply":       {[]string{"--driver", "native", "--features", "apply"}, []right{{"create", "apps", "deployments"}, {"delete", "", "services"}, {"create", "policy", "poddisruptionbudgets"}}, []right{clones, crr}},
		"budgets":     {nil, []right{{"watch", "policy.kruise.io", "podunavailablebudgets"}, {"watch", "policy", "poddisruptionbudgets"}}, []right{{"delete", "", "services"}, {"create", "apps", "deployments"}}},
		"ui":          {[]string{"--driver", "", "--features", "ui"}, []right{{"watch", "", "pods"}, {"list", "apps", "statefulsets"}, {"watch", "apps.kruise.io", "workloadspreads"}, {"get", "", "pods/log"}}, []right{clones, sets, record, crr, {"delete", "", "configmaps"}}},
		"pull":        {[]string{"--driver", "client", "--features", "pull"}, []right{{"create", "apps.kruise.io", "imagepulljobs"}, {"create", "batch", "jobs"}}, []right{crr}},
		"watch":       {[]string{"--role", "watch"}, []right{{"watch", "", "pods"}}, []right{clones, sets, record, crr, {"patch", "", "configmaps"}}},
		"approve":     {[]string{"--role", "approve"}, []right{{"watch", "", "pods"}, {"patch", "", "configmaps"}, {"get", "coordination.k8s.io", "leases"}}, []right{clones, sets, record, crr, evict, {"create", "coordination.k8s.io", "leases"}}},
		"client":      {[]string{"--driver", "client"}, []right{evict, sets}, []right{clones}},
	} {
		t.Run(name, func(t *testing.T) {
			roles, _, err := rolesFor(t, c.args...)
			if err != nil || len(roles) != 2 {
				t.Fatal(roles, err)
			}
			for _, r := range c.has {
				if !may(roles[0], r.verb, r.group, r.resource) {
					t.Errorf("lacks %v", r)
				}
			}
			for _, r := range c.lacks {
				if may(roles[0], r.verb, r.group, r.resource) {
					t.Errorf("has %v", r)
				}
			}
			if !may(roles[1], "watch", "", "nodes") || may(roles[0], "watch", "", "nodes") {
				t.Error("nodes have no namespace")
			}
			for _, role := range roles {
				for _, rule := range role.Rules {
					if slices.Contains(rule.Verbs, "*") || slices.Contains(rule.Resources, "*") || slices.Contains(rule.Resources, "secrets") {
						t.Errorf("too much: %v", rule)
					}
				}
			}
		})
	}
}

func TestRBAC_RejectsWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"--driver", "x"}, {"--features", "x"}, {"--bind", "x"}, {"--bind", "/x"}, {"--role", "x"}, {"--role", "watch", "--driver", "client"}, {"--in", "shop"}} {
		if _, _, err := rolesFor(t, args...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if _, text, err := rolesFor(t, "--bind", "ci/deployer", "--in", "shop"); err != nil || strings.Count(text, "kind: RoleBinding\n") != 1 || strings.Count(text, "kind: ClusterRoleBinding\n") != 1 {
		t.Error(err, text)
	}
	if _, text, err := rolesFor(t, "--bind", "ci/deployer"); err != nil || strings.Count(text, "kind: ClusterRoleBinding") != 2 {
		t.Error(err, text)
	}
}

// TestRBAC_OfTheRunner checks that the account of Jobs can execute rollouts and nothing else, and
// where it is bound.
func TestRBAC_OfTheRunner(t *testing.T) {
	_, text, err := rolesFor(t, "--runner", "--driver", "kruise", "--features", "pull", "--in", "shop")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Split(text, "---\n")
	wants := []string{
		"kind: Namespace", "automountServiceAccountToken: false", "kind: ClusterRole\n", "kind: ClusterRole\n", "namespace: shop\nroleRef", "kind: ClusterRoleBinding",
	}
	if len(docs) != len(wants) {
		t.Fatalf("%d documents\n%s", len(docs), text)
	}
	for i, want := range wants {
		if !strings.Contains(docs[i], want) {
			t.Errorf("document %d lacks %q:\n%s", i, want, docs[i])
		}
	}
	var role, wide rbacv1.ClusterRole
	if err := yaml.Unmarshal([]byte(docs[2]), &role); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(docs[3]), &wide); err != nil {
		t.Fatal(err)
	}
	if !may(role, "patch", "apps.kruise.io", "clonesets") || !may(role, "update", "", "configmaps") || !may(role, "create", "apps.kruise.io", "imagepulljobs") {
		t.Error("it cannot carry a rollout out")
	}
	if may(role, "delete", "", "configmaps") || may(role, "patch", "rollouts.kruise.io", "rollouts") || may(role, "create", "batch", "jobs") || may(role, "get", "", "secrets") {
		t.Errorf("it may do more than an executor:\n%s", docs[2])
	}
	last := wide.Rules[len(wide.Rules)-1]
	if !slices.Equal(last.ResourceNames, []string{"kube-system"}) || !slices.Equal(last.Verbs, []string{"get"}) {
		t.Errorf("%+v", last)
	}
	if _, text, err = rolesFor(t, "--runner", "--runner-namespace", "shop"); err != nil || strings.Contains(text, "kind: Namespace") {
		t.Errorf("a namespace of workloads is not for runners alone: %v\n%s", err, text)
	}
	for _, args := range [][]string{{"--runner", "--role", "watch"}, {"--runner", "--bind", "a/b"}, {"--runner-namespace", "x"}} {
		if _, _, err := rolesFor(t, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
