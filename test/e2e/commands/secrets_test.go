package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/secretive"
)

// TestSecrets_AreShownByNoCommand: no command shows what is in a Secret of the cluster or of a manifest,
// neither in what it says nor in what it logs, nor does it keep that anywhere.
func TestSecrets_AreShownByNoCommand(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, secretive.Secrets(b.namespace, "one")+secretive.Plain("registry.example.com/web:1"))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	file := filepath.Join(t.TempDir(), "new.yaml")
	must(t, os.WriteFile(file, []byte(secretive.Secrets(b.namespace, "two")+secretive.Plain("registry.example.com/web:2")), 0o600))
	for _, line := range []string{
		"get secrets", "get secret pass", "describe secret pass", "get resourcedistributions", "describe resourcedistribution " + b.namespace + "-secret",
		"describe cloneset/web", "why cloneset/web", "why", "rollout list", "rollout status cloneset/web --watch=false", "doctor",
		"plan cloneset/web --image main=registry.example.com/web:2 -v", "inventory", "inventory -f " + file, "render -f " + file + " --live --out " + t.TempDir() + "/out",
		"diff -f " + file, "diff -f " + file + " --server-side", "apply -f " + file + " --dry-run=server", "apply -f " + file + " --dry-run=client -o json", "apply -f " + file + " --yes",
		"patch secret pass -p {\"stringData\":{\"word\":\"" + secretive.Word + "-three\"}}", "set env cloneset/web --from=secret/pass --dry-run=server",
		"rollout history cloneset/web", "rollout restart cloneset/web", "__complete get secret pass", "__complete get secrets ",
	} {
		for _, log := range []string{"", "-v=9"} {
			args := strings.Split(line, " ")
			if log != "" && !strings.HasPrefix(line, "__") {
				args = append(args, log)
			}
			a := b.call(t, args...)
			if shown := secretive.Shown(a.out + a.err); shown != "" {
				t.Errorf("%q:\n%s", args, shown)
			}
			if log != "" && len(args) > len(strings.Split(line, " ")) && a.code != 2 && !strings.Contains(a.err, "Request") {
				t.Errorf("%q: nothing is logged:\n%s", args, a.err)
			}
		}
	}
	b.keepsNothing(t)
}

// TestSecrets_AreShownByNoRollout: what a rollout tells on its way, what it is seen to have done, and
// what would take it back, shows no secret of a template.
func TestSecrets_AreShownByNoRollout(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, secretive.Secrets(b.namespace, "one")+secretive.Wordy("one", "registry.example.com/web:1"))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	file := filepath.Join(t.TempDir(), "new.yaml")
	must(t, os.WriteFile(file, []byte(secretive.Wordy("two", "registry.example.com/web:1")), 0o600))
	for _, line := range []string{
		"rollout run -f " + file + " --dry-run=client", "rollout run -f " + file + " --dry-run=server -o json",
		"rollout run -f " + file + " --steps 1,100% --yes -o json", "rollout status cloneset/web --watch=false", "rollout status -o json --watch=false cloneset/web",
		"rollout history cloneset/web", "rollout history cloneset/web --revision=1", "rollout undo cloneset/web --dry-run=client",
		"plan cloneset/web --image main=registry.example.com/web:2 -v", "why cloneset/web", "rollout restart cloneset/web --in-place --yes",
	} {
		a := b.call(t, strings.Fields(line)...)
		if shown := secretive.Shown(a.out + a.err); shown != "" {
			t.Errorf("%s: exit code %d\n%s", line, a.code, shown)
		} else if a.code != 0 {
			t.Errorf("%s: exit code %d\n%s", line, a.code, a.out+a.err)
		}
	}
}

// keepsNothing looks into what commands leave in the namespace beside Secrets.
func (b *bed) keepsNothing(t *testing.T) {
	t.Helper()
	kept, err := b.Client().CoreV1().ConfigMaps(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	events, err := b.Client().CoreV1().Events(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	leases, err := b.Client().CoordinationV1().Leases(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	revisions, err := b.Client().AppsV1().ControllerRevisions(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, list := range []any{kept, events, leases, revisions} {
		text, err := json.Marshal(list)
		must(t, err)
		if shown := secretive.Shown(string(text)); shown != "" {
			t.Errorf("%T: %s", list, shown)
		}
	}
}
