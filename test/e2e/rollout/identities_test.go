package rollout

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/rollout/invariant"
)

// tenantRole is what a tenant may do in their namespace: everything to ConfigMaps, Leases,
// events, pods and workloads of their own, and to annotate the one that is rolled out.
const tenantRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant}
rules:
- {apiGroups: [""], resources: [configmaps, pods, pods/status, events], verbs: ["*"]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: ["*"]}
- {apiGroups: [events.k8s.io], resources: [events], verbs: ["*"]}
- {apiGroups: [apps], resources: [replicasets, deployments, statefulsets, controllerrevisions], verbs: ["*"]}
- {apiGroups: [apps.kruise.io], resources: [clonesets], verbs: [get, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: ServiceAccount, name: tenant}]
`

// identities are the people around one rollout, each with a kubeconfig of their own.
type identities struct {
	*bed

	operator, approver, tenant string
	// state is where the operator's approvals are.
	state string
	// approved is the plan that the operator has approved.
	approved plan.Plan
}

func newIdentities(t *testing.T, w workload) *identities {
	t.Helper()
	c, namespace := shared(t)
	b := bedIn(t, c, namespace, w)
	i := &identities{bed: b, state: t.TempDir()}
	i.operator = kubeconfig(t, b.account(t, nil))
	i.approver = kubeconfig(t, b.person(t, "approver", nil, "--role", "approve", "--name", b.namespace+"-approver", "--in", b.namespace))
	accounts := b.Client().CoreV1().ServiceAccounts(b.namespace)
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}}, metav1.CreateOptions{})
	must(t, err)
	token, err := accounts.CreateToken(t.Context(), "tenant", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	c.Apply(t, namespace, tenantRole)
	admin := b.Config()
	i.tenant = kubeconfig(t, &rest.Config{Host: admin.Host, TLSClientConfig: rest.TLSClientConfig{CAData: admin.CAData, CAFile: admin.CAFile}, BearerToken: token.Status.Token})
	return i
}

// as calls the command as one of them.
func (i *identities) as(t *testing.T, who string, args ...string) (code int, said string) {
	t.Helper()
	state := i.state
	if who != i.operator {
		state = t.TempDir()
	}
	code, out, said := fromAs(t, i.bed, who, state, args...)
	return code, out + said
}

// attack has the tenant call kubectl, with rights that they have.
func (i *identities) attack(t *testing.T, document string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), i.Kubectl(), append(args, "--kubeconfig", i.tenant, "-n", i.namespace)...)
	cmd.Stdin = strings.NewReader(document)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the tenant may not %v: %v\n%s", args, err, out)
	}
}

// TestThreeIdentities_StayWithinTheirRights: an operator rolls out, an approver promotes, and a tenant does all that
// they may to the record, the Lease, events, annotations, pods and workloads of their own.
// What the audit log has of the operator is in the plan that was approved, no program of the
// tenant runs, and nothing of the tenant's is changed.
func TestThreeIdentities_StayWithinTheirRights(t *testing.T) {
	for name, w := range map[string]workload{
		"by Kruise": kruiseKind("CloneSet", "clonesets", approvedClones), "by the client": kinds["ReplicaSet"].workload,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIdentities(t, w)
			i.roll(t)
			i.audit(t)
		})
	}
}

func (i *identities) roll(t *testing.T) {
	t.Helper()
	marker := filepath.Join(t.TempDir(), "ran")
	ref := strings.ToLower(i.object.Kind) + "/web"
	// The tenant's own workload has pods that look like those of the other one.
	other := strings.ReplaceAll(document("apps/v1", "ReplicaSet", ""), "name: web", "name: other")
	i.attack(t, strings.ReplaceAll(other, "labels: {app: web}", "labels: {app: web, of: tenant}"), "create", "-f", "-")
	i.attack(t, "", "annotate", i.object.Resource.Resource+"."+i.object.Group, "web", `kubectl-kruise.dev/rollout=verify: [{command: [touch, `+marker+`]}]`)

	run := []string{"rollout", "run", ref, "--yes", "--image", "main=" + web2, "--steps", "1,2,100%", "--pause-after", "2", "--pull-images", "never", "--exit-on-pause"}
	code, said := i.as(t, i.operator, run...)
	if code != 1 || !strings.Contains(said, "--allow-commands") {
		t.Fatalf("the annotation has a command: exit %d\n%s", code, said)
	}
	i.attack(t, "", "annotate", i.object.Resource.Resource+"."+i.object.Group, "web", "kubectl-kruise.dev/rollout-")
	if code, said = i.as(t, i.operator, run...); code != 5 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	records := kube.Records{Client: i.Client()}
	approved, err := records.Load(t.Context(), i.object.Ref)
	must(t, err)
	state := (&history{bed: i.bed}).rollout().State
	honest, err := i.Client().CoreV1().ConfigMaps(i.namespace).Get(t.Context(), state, metav1.GetOptions{})
	must(t, err)

	i.attack(t, "", "delete", "lease", state)
	i.attack(t, `
apiVersion: v1
kind: Event
metadata: {name: forged}
involvedObject: {kind: `+i.object.Kind+`, name: web, namespace: `+i.namespace+`}
reason: RolloutPromoted
message: "::error::everything is approved"
type: Normal
reportingComponent: kubectl-kruise
reportingInstance: operator
`, "create", "-f", "-")
	for name, edit := range map[string]func(*plan.Plan){
		"a program": func(p *plan.Plan) {
			p.Steps = append(p.Steps, plan.Step{Name: "v", Kind: plan.StepVerify, Title: "look", OnFailure: plan.FailPause, Verify: &plan.Verify{Command: []string{"touch", marker}}})
		},
		"a template": func(p *plan.Plan) {
			p.Steps = append(p.Steps, plan.Step{Name: "more", Kind: plan.StepUpdate, Title: "more", OnFailure: plan.FailPause, Patches: []plan.Patch{
				{Type: plan.PatchJSON, Body: []any{map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true}}},
			}})
		},
		"a Job": func(p *plan.Plan) {
			p.Steps = append(p.Steps, plan.Step{Name: "j", Kind: plan.StepVerify, Title: "ask", OnFailure: plan.FailPause, Verify: &plan.Verify{Job: map[string]any{"spec": map[string]any{}}}})
		},
	} {
		tamper(t, i.bed, false, edit)
		before, err := records.Load(t.Context(), i.object.Ref)
		must(t, err)
		for _, verb := range [][]string{{"promote", ref, "--yes"}, {"resume", ref, "--yes"}} {
			if code, said = i.as(t, i.operator, append([]string{"rollout"}, verb...)...); code != 1 {
				t.Errorf("%s: %v: exit %d\n%s", name, verb, code, said)
			}
		}
		after, err := records.Load(t.Context(), i.object.Ref)
		must(t, err)
		if after.Progress != before.Progress {
			t.Errorf("%s: what was refused is recorded: %+v, before %+v", name, after.Progress, before.Progress)
		}
		// The tenant puts it back, as if nothing had been.
		now, err := i.Client().CoreV1().ConfigMaps(i.namespace).Get(t.Context(), state, metav1.GetOptions{})
		must(t, err)
		now.BinaryData = maps.Clone(honest.BinaryData)
		_, err = i.Client().CoreV1().ConfigMaps(i.namespace).Update(t.Context(), now, metav1.UpdateOptions{})
		must(t, err)
	}

	// A record that is none hides no rollout from the others.
	i.attack(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: rollout.none, labels: {kubectl-kruise.dev/rollout-of: none}}
data: {record: "{\e[2J"}
`, "create", "-f", "-")
	if code, said = i.as(t, i.operator, "rollout", "list"); code != 0 || !strings.Contains(said, ref) || !strings.Contains(said, "configmap/rollout.none") || strings.Contains(said, "\x1b") {
		t.Errorf("with a record that cannot be read: exit %d\n%s", code, said)
	}

	if code, said = i.as(t, i.approver, "rollout", "promote", ref); code != 1 || !strings.Contains(said, "no process is running the rollout") {
		t.Errorf("the approver: exit %d\n%s", code, said)
	}
	if code, said = i.as(t, i.operator, "rollout", "resume", ref, "--yes"); code != 0 {
		t.Errorf("exit %d\n%s", code, said)
	}
	if code, said = i.as(t, i.tenant, "rollout", "run", ref, "--image", "main=other:1", "--yes"); code == 0 {
		t.Errorf("the tenant rolls out with their own rights:\n%s", said)
	}
	// A revision of the tenant's own making is none of the workload's.
	i.attack(t, `
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: web-forged, labels: {app: web, controller-revision-hash: web-forged}}
revision: 99
data: {spec: {template: {$patch: replace, metadata: {labels: {app: web}}, spec: {hostNetwork: true, containers: [{name: main, image: "registry.example.com/evil:1"}]}}}}
`, "create", "-f", "-")
	if code, said = i.as(t, i.operator, "rollout", "undo", ref, "--to-revision", "99", "--yes"); code == 0 || strings.Contains(said, "evil") {
		t.Errorf("a forged revision: exit %d\n%s", code, said)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the tenant was run")
	}
	i.approved = approved.Plan
}

// audit holds what the operator has asked the server for to the plan that was approved.
func (i *identities) audit(t *testing.T) {
	t.Helper()
	events, err := i.AuditOf(i.namespace)
	must(t, err)
	written := 0
	for n := range events {
		if e := &events[n]; e.User.Username == "system:serviceaccount:"+i.namespace+":deployer" {
			e.ImpersonatedUser = &e.User
			written++
		}
	}
	if written == 0 {
		t.Fatal("the operator has written nothing")
	}
	r := (&history{bed: i.bed, plan: &i.approved}).rollout()
	l := invariant.Read(events)
	for _, rule := range []rule{{"inside", invariant.Inside}, {"approved", invariant.Approved}, {"owned", invariant.Owned}} {
		for _, wrong := range rule.holds(l, r) {
			t.Errorf("%s: %s", rule.name, wrong)
		}
	}
	pods := i.pods(t)
	if n := running(pods, web2); n != 4 {
		t.Errorf("%d pods are updated", n)
	}
}
