package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// secretive is a Secret that kubectl has applied, one that is distributed, and a workload
// that uses it; VALUE is what nobody may see, and stands nowhere else.
const secretive = `
apiVersion: v1
kind: Secret
metadata:
  name: pass
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"pass"},"stringData":{"word":"VALUE"}}'}
stringData: {word: VALUE}
---
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: NAMESPACE-secret}
spec:
  resource: {apiVersion: v1, kind: Secret, metadata: {name: copied}, type: Opaque, stringData: {word: VALUE}}
  targets: {includedNamespaces: {list: [{name: NAMESPACE}]}}
---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: IMAGE
        env: [{name: WORD, valueFrom: {secretKeyRef: {name: pass, key: word}}}]
`

// TestSecretsStay: no command shows what is in a Secret of the cluster or of a manifest,
// neither in what it says nor in what it logs, nor does it keep that anywhere.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	text := func(value, image string) string {
		return strings.NewReplacer("NAMESPACE", b.namespace, "VALUE", value, "IMAGE", image).Replace(secretive)
	}
	b.Apply(t, b.namespace, text("zebra-one", "registry.example.com/web:1"))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	file := filepath.Join(t.TempDir(), "new.yaml")
	must(t, os.WriteFile(file, []byte(text("zebra-two", "registry.example.com/web:2")), 0o600))
	for _, line := range []string{
		"get secrets", "get secret pass", "describe secret pass", "get resourcedistributions", "describe resourcedistribution " + b.namespace + "-secret",
		"describe cloneset/web", "why cloneset/web", "why", "rollout list", "rollout status cloneset/web --watch=false", "doctor",
		"plan cloneset/web --image main=registry.example.com/web:2 -v", "inventory", "inventory -f " + file, "render -f " + file + " --live --output-dir " + t.TempDir() + "/out",
		"apply -f " + file + " --dry-run=server", "apply -f " + file + " --dry-run=client -o json", "apply -f " + file + " --yes",
		"patch secret pass -p {\"stringData\":{\"word\":\"zebra-three\"}}", "set env cloneset/web --from=secret/pass --dry-run=server",
		"rollout history cloneset/web", "rollout restart cloneset/web", "__complete get secret pass", "__complete get secrets ",
	} {
		for _, log := range []string{"", "-v=9"} {
			args := strings.Split(line, " ")
			if log != "" && !strings.HasPrefix(line, "__") {
				args = append(args, log)
			}
			a := b.call(t, args...)
			if strings.Contains(a.out+a.err, "zebra") || strings.Contains(a.out+a.err, "emVicmE") {
				t.Errorf("%q:\n%s", args, leaks(a.out+a.err))
			}
			if log != "" && len(args) > len(strings.Split(line, " ")) && a.code != 2 && !strings.Contains(a.err, "Request") {
				t.Errorf("%q: nothing is logged:\n%s", args, a.err)
			}
		}
	}
	b.keepsNothing(t)
}

// leaks are the lines that show too much.
func leaks(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "zebra") || strings.Contains(line, "emVicmE") {
			out = append(out, line[:min(len(line), 400)])
		}
	}
	return strings.Join(out, "\n")
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
		if strings.Contains(string(text), "zebra") || strings.Contains(string(text), "emVicmE") {
			t.Errorf("%s", text)
		}
	}
}
