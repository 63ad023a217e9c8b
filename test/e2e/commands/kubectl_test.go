package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKubectlVerbs_WorkOnKruiseKinds: what is taken over from kubectl works on Kruise's kinds and ends as our
// own commands do.
func TestKubectlVerbs_WorkOnKruiseKinds(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	b.call(t, "patch", "clone/web", "--type", "merge", "-p", `{"spec":{"minReadySeconds":1}}`).prints(t, "cloneset.apps.kruise.io/web patched")
	b.call(t, "patch", "clone/none", "--type", "merge", "-p", "{}").ends(t, 1, `Error from server (NotFound): clonesets.apps.kruise.io "none" not found`)
	for _, args := range [][]string{{"get", "clone/none"}, {"delete", "clone", "none"}, {"describe", "clone/none"}, {"logs", "none"}, {"exec", "none", "--", "true"}, {"scale", "clone/none", "--replicas=1"}} {
		if a := b.call(t, args...).ends(t, 1, "Error from server (NotFound): "); strings.Count(a.err, "rror") != 1 {
			t.Errorf("%q:\n%s", args, a.err)
		}
	}
	b.call(t, "wait", "clone/web", "--for", "jsonpath={.status.readyReplicas}=3", "--timeout", "60s").prints(t, "cloneset.apps.kruise.io/web condition met")
	b.call(t, "wait", "clone/web", "--for", "delete", "--timeout", "1ms").ends(t, 1, "error: ")
	b.pipe(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: none}}", "replace", "-f", "-").ends(t, 1, `"none" not found`)
	b.call(t, "api-resources", "--api-group", "apps.kruise.io", "-o", "name").ends(t, 0, "clonesets.apps.kruise.io\n")
	b.call(t, "explain", "cloneset.spec.replicas").ends(t, 0, "KIND:       CloneSet", "FIELD: replicas <integer>")
	b.call(t, "explain", "clone.spec.updateStrategy").ends(t, 0, "KIND:       CloneSet", "FIELD: updateStrategy <Object>")
	b.call(t, "explain", "cloneset.spec.none").ends(t, 1, `field "none" does not exist`)
	b.call(t, "api-versions").ends(t, 0, kruiseV1+"\n")
}

// wrongCalls are calls that kubectl refuses, or that ask for what is not there.
const wrongCalls = `
nosuch
gett pods
get --nosuch
get pods -n
get pods -o
get pods -o nosuch
get nosuch
get nosuch/x
get pods,nosuch
get pods nosuch
get pods --field-selector x
describe
describe nosuch
describe pod nosuch
delete
delete pod nosuch
exec
exec nosuch
exec nosuch -- ls
logs
logs nosuch --namespace default
explain
explain nosuch
scale
scale deployment/nosuch
scale deployment/nosuch --replicas=1
autoscale deployment nosuch --max 3
expose
expose deployment nosuch --port 80
apply
create
create -f nosuch.yaml
replace
patch
patch pod nosuch -p {}
wait pod/nosuch
wait pod/nosuch --for=condition=Ready
kustomize nosuch
set nosuch
set env deployment/nosuch A=b
rollout nosuch
rollout status deployment/nosuch
rollout history deployment/nosuch
rollout undo deployment/nosuch
rollout pause deployment/nosuch
rollout resume deployment/nosuch
rollout restart deployment/nosuch
config nosuch
config view extra
api-resources extra
completion
completion tcsh
`

// TestWrongCalls_HaveKubectlsWords: what kubectl says of a wrong call is said here, in its words; a hint may follow.
func TestWrongCalls_HaveKubectlsWords(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, b.kubeconfig(kubeconfig))
	for line := range strings.Lines(strings.TrimSpace(wrongCalls)) {
		args := strings.Fields(line)
		cmd := exec.CommandContext(t.Context(), b.Kubectl(), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig) // flags before an unknown command are another error
		theirs, _ := cmd.CombinedOutput()                        // it fails; the words are compared
		ours := b.call(t, args...)
		want, got := complaint(string(theirs)), complaint(ours.err)
		twice := strings.Contains(ours.err, "error: Error from server") // as kubectl logs has it
		if want == "" || ours.code == 0 || !strings.HasPrefix(got, want) || twice {
			t.Errorf("%s: exit %d\nkubectl says %s\nhere        %s", strings.TrimSpace(line), ours.code, want, got)
		}
	}
}

// complaint is the line of a text that says what is wrong, without its first letter's case and the end of its
// sentence.
func complaint(text string) string {
	for line := range strings.Lines(text) {
		said, _, _ := strings.Cut(strings.TrimSpace(line), " Use \"kubectl")
		said = strings.ReplaceAll(strings.ToLower(said), `for "kubectl kruise"`, `for "kubectl"`)
		for _, begins := range []string{"error from server", "error: ", "you must specify", "the server doesn't"} {
			if strings.HasPrefix(said, begins) {
				return strings.TrimRight(strings.TrimPrefix(said, "error: "), ".")
			}
		}
	}
	return ""
}
