package e2e

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
)

// verdict is a line of the doctor's.
type verdict struct{ Status, Topic, Text, Hint string }

// examine runs the doctor as the user of a kubeconfig.
func examine(t *testing.T, kubeconfig, namespace string) (lines []verdict, code int) {
	t.Helper()
	out, said, err := as(t, kubeconfig, "doctor", "-o", "json", "-n", namespace)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code = ended.ExitCode()
	}
	if err := json.Unmarshal([]byte(out), &lines); err != nil {
		t.Fatalf("%v\n%s%s", err, out, said)
	}
	return lines, code
}

// says reports a line that begins so.
func says(lines []verdict, status, topic, text string) bool {
	for _, l := range lines {
		if l.Status == status && (topic == "" || l.Topic == topic) && strings.Contains(l.Text, text) {
			return true
		}
	}
	return false
}

// TestDoctor_OfAdministratorAndUserWithoutRights: an administrator of a cluster with Kruise's API, whose controllers are not
// there, and a user without permissions.
func TestDoctor_OfAdministratorAndUserWithoutRights(t *testing.T) {
	c, namespace := cluster.Shared(t, kruise.API())
	lines, code := examine(t, c.Kubeconfig(), namespace)
	for _, want := range []verdict{
		{Status: "ok", Topic: "server", Text: "Kubernetes v1."},
		{Status: "ok", Topic: "kinds", Text: "of Kruise's kinds are served"},
		{Status: "ok", Topic: "definitions", Text: "are established"},
		{Status: "ok", Topic: "rights", Text: "rollout with driver kruise in namespace " + namespace},
		{Status: "ok", Topic: "rights", Text: "apply in namespace " + namespace},
		{Status: "ok", Topic: "clock", Text: "agrees"},
	} {
		if !says(lines, want.Status, want.Topic, want.Text) {
			t.Errorf("%+v is not said: %+v", want, lines)
		}
	}
	if says(lines, "fail", "", "") != (code == 1) {
		t.Errorf("exit code %d: %+v", code, lines)
	}
	pair, err := c.Issue(pki.Subject{Name: "no-permissions"})
	if err != nil {
		t.Fatal(err)
	}
	powerless := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.WriteKubeconfig(powerless, pair); err != nil {
		t.Fatal(err)
	}
	lines, _ = examine(t, powerless, namespace)
	for _, want := range []verdict{
		{Status: "warn", Topic: "definitions", Text: "cannot be read"},
		{Status: "warn", Topic: "webhooks", Text: "cannot be read"},
		{Status: "warn", Topic: "daemon", Text: "cannot be read"},
		{Status: "warn", Topic: "rights", Text: "permissions are missing"},
	} {
		if !says(lines, want.Status, want.Topic, want.Text) {
			t.Errorf("%+v is not said: %+v", want, lines)
		}
	}
}

// TestDoctor_WithoutKruise: nothing is wrong with such a cluster.
func TestDoctor_WithoutKruise(t *testing.T) {
	c, namespace := cluster.Shared(t)
	lines, code := examine(t, c.Kubeconfig(), namespace)
	if code != 0 || !says(lines, "ok", "Kruise", "is not installed") || says(lines, "fail", "", "") {
		t.Errorf("exit code %d: %+v", code, lines)
	}
}

// TestDoctor_ChecksRightsByScope: roles that are bound in one namespace say nothing about what has
// none; those of the whole cluster do.
func TestDoctor_ChecksRightsByScope(t *testing.T) {
	c, namespace := cluster.Shared(t, kruise.API())
	who := "keeper-of-" + namespace
	roles, said, err := as(t, c.Kubeconfig(), "rbac", "--name", who)
	if err != nil {
		t.Fatal(err, said)
	}
	bind := func(kind, role string) string {
		return "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + role + "}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role + "}\nsubjects: [{kind: User, name: " + who + "}]\n"
	}
	c.Apply(t, namespace, roles+bind("RoleBinding", who)+bind("RoleBinding", who+"-cluster"))
	pair, err := c.Issue(pki.Subject{Name: who})
	if err != nil {
		t.Fatal(err)
	}
	keeper := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.WriteKubeconfig(keeper, pair); err != nil {
		t.Fatal(err)
	}
	const native = "rollout with driver native in namespace "
	lines := examineUntil(t, keeper, namespace, "warn", native+namespace+": 2 permissions are missing: list nodes, watch nodes")
	if !says(lines, "warn", "rights", "apply in namespace "+namespace) {
		t.Errorf("apply is allowed: %+v", lines)
	}
	c.Apply(t, namespace, bind("ClusterRoleBinding", who+"-cluster"))
	examineUntil(t, keeper, namespace, "ok", native+namespace)
}

// examineUntil runs the doctor until it says something: authorizers learn of roles a
// little later.
func examineUntil(t *testing.T, kubeconfig, namespace, status, text string) (lines []verdict) {
	t.Helper()
	end := time.Now().Add(cluster.Patience)
	for time.Now().Before(end) {
		if lines, _ = examine(t, kubeconfig, namespace); says(lines, status, "rights", text) {
			return lines
		}
	}
	t.Fatalf("%s %s is not said: %+v", status, text, lines)
	return nil
}
