package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// hand is a user with a shell, in a folder of patches.
type hand struct {
	*cluster.Cluster

	t         *testing.T
	namespace string
	folder    string
}

// newHand has a shell whose kubectl is at home in a namespace of the test.
func newHand(t *testing.T) *hand {
	t.Helper()
	bed, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
	h := &hand{bed, t, namespace, filepath.Join(t.TempDir(), "patches")}
	if err := os.MkdirAll(h.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	h.own()
	h.sh("kubectl config set-context --current --namespace " + namespace)
	return h
}

// sh runs one command as it is written.
func (h *hand) sh(command string) string {
	h.t.Helper()
	h.t.Log(command)
	cmd := exec.CommandContext(h.t.Context(), "sh", "-c", command)
	cmd.Dir = h.folder
	cmd.Env = append(os.Environ(), "KUBECONFIG="+h.kubeconfig(), "PATH="+filepath.Dir(h.Kubectl())+":"+os.Getenv("PATH"))
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("%s: %v\n%s%s", command, err, &said, h.state())
	}
	return out.String()
}

// kubeconfig is a file of the hand's own: it remembers a namespace.
func (h *hand) kubeconfig() string { return filepath.Join(filepath.Dir(h.folder), "kubeconfig") }

// own makes that file.
func (h *hand) own() {
	h.t.Helper()
	text, err := os.ReadFile(h.Kubeconfig())
	if err == nil {
		err = os.WriteFile(h.kubeconfig(), text, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// state is what there is, for a test that fails.
func (h *hand) state() string {
	out, _ := exec.Command(h.Kubectl(), "--kubeconfig", h.Kubeconfig(), "-n", h.namespace, "get", "all,clonesets.apps.kruise.io", "-o", "wide").CombinedOutput()
	return string(out)
}

// write puts a manifest into a file beside the folder.
func (h *hand) write(name, manifest string) string {
	h.t.Helper()
	path := filepath.Join(filepath.Dir(h.folder), name)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(manifest, "NAMESPACE", h.namespace)), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// render calls the product and returns the path of what it rendered.
func (h *hand) render(name string, args ...string) string {
	h.t.Helper()
	return h.made(name, append([]string{"render"}, args...)...)
}

// made is a file with what a verb of the product writes.
func (h *hand) made(name string, args ...string) string {
	h.t.Helper()
	binary, err := product.Binary()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(h.t.Context(), binary, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%v: %v\n%s", args, err, &said)
	}
	return h.write(name, string(out))
}

// written is what a program reads of a folder of patches.
type written struct {
	Sequences []struct {
		Object struct{ Kind, Name string }
		Steps  []struct {
			Name          string
			Commands      []string
			Before, After []struct{ Text, Check string }
		}
	}
	Created []struct{ Kind, Name string }
}

func (h *hand) index() (x written) {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.folder, "index.json"))
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return x
}

// follow does what the folder says, to the letter, and returns how many steps it
// took.
func (h *hand) follow() int {
	h.t.Helper()
	steps := 0
	for _, q := range h.index().Sequences {
		for _, s := range q.Steps {
			for _, c := range s.Before {
				if c.Check != "" {
					h.sh(c.Check)
				}
			}
			for _, command := range s.Commands {
				h.sh(command)
			}
			for _, c := range s.After {
				if c.Check != "" {
					h.sh(c.Check)
				}
			}
			steps++
		}
	}
	return steps
}

// patched is a workload web of Kruise, with more in its spec.
func patched(kind, image, more string) string {
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: %s
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: "%s"}]
%s`, kind, image, more)
}

// gated is an Advanced StatefulSet that Kruise's webhook lets update two pods in
// place at once.
func gated(text string) string {
	return strings.NewReplacer(
		"  replicas: 4", "  replicas: 4\n  podManagementPolicy: Parallel",
		"      containers:", "      readinessGates: [{conditionType: InPlaceUpdateReady}]\n      containers:",
	).Replace(text)
}

const (
	webOne = "registry.example.com/web:1"
	webTwo = "registry.example.com/web:2"
)

// followed is one change that is carried out by hand.
type followed struct {
	how, steps []string
	old, new   string
	// beside is a workload that is there besides, and stays as it is.
	beside string
	// ready is the field of the status that counts ready pods; readyReplicas without.
	ready string
	// image is the new image; webTwo without.
	image string
	// daemons indicates that there is a pod for each node instead of four.
	daemons bool
	// pods gives the pods of the cluster to the renderer.
	pods bool
	// updated of four pods have the new image in the end; inPlace says that they are
	// the pods that were there.
	updated int
	inPlace bool
}

// TestPatches_RollOutByKubectl sends sequences of patches by the kubectl commands that they give, one
// after the other, and looks at what has become of the pods.
func TestPatches_RollOutByKubectl(t *testing.T) {
	half := "  updateStrategy: {rollingUpdate: {partition: 2}}\n"
	named := "  serviceName: web\n"
	inPlace := "  updateStrategy: {rollingUpdate: {maxUnavailable: 2, podUpdatePolicy: InPlaceIfPossible}}\n"
	client, byKruise := []string{"--driver", "client"}, []string{"--target", "kruise"}
	for name, c := range map[string]followed{
		"CloneSet":             {how: byKruise, old: patched("CloneSet", webOne, ""), new: patched("CloneSet", webTwo, half), updated: 2},
		"Advanced StatefulSet": {how: byKruise, old: patched("StatefulSet", webOne, named), new: patched("StatefulSet", webTwo, named), updated: 4},
		"Deployment":           {steps: []string{"--steps", "1,3,100%"}, old: patched("CloneSet", webOne, ""), new: patched("CloneSet", webTwo, ""), updated: 4},
		"StatefulSet":          {old: patched("StatefulSet", webOne, named), new: patched("StatefulSet", webTwo, named), updated: 4},
		"stable and canary":    {old: patched("CloneSet", webOne, ""), new: patched("CloneSet", webTwo, half), updated: 2},
		"Advanced DaemonSet":   {how: byKruise, steps: []string{"--steps", "1,100%"}, old: daemons(webOne), new: daemons(webTwo), ready: "numberReady", daemons: true, pods: true},
		"SidecarSet":           {how: byKruise, steps: []string{"--steps", "1,100%"}, old: mesh("1"), new: mesh("2"), beside: patched("CloneSet", webOne, ""), image: "registry.example.com/mesh:2", pods: true, updated: 4, inPlace: true},
		"ReplicaSet in place":  {how: client, old: patched("CloneSet", webOne, ""), new: patched("CloneSet", webTwo, inPlace), pods: true, updated: 4, inPlace: true},
		"ReplicaSet recreated": {how: client, old: patched("CloneSet", webOne, ""), new: patched("CloneSet", webTwo, ""), pods: true, updated: 4},
		"StatefulSet in place": {how: client, old: gated(patched("StatefulSet", webOne, named+inPlace)), new: gated(patched("StatefulSet", webTwo, named+inPlace)), pods: true, updated: 4, inPlace: true},
	} {
		t.Run(name, func(t *testing.T) { follow(t, c) })
	}
}

// daemons is an Advanced DaemonSet web.
func daemons(image string) string {
	return strings.Replace(patched("DaemonSet", image, "  updateStrategy: {rollingUpdate: {maxUnavailable: 1}}\n"), "  replicas: 4\n", "", 1)
}

// mesh is a SidecarSet for the pods of the namespace, with its own container first.
func mesh(tag string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh-NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
  updateStrategy: {maxUnavailable: 2}
  containers: [{name: mesh, podInjectPolicy: BeforeAppContainer, image: "registry.example.com/mesh:` + tag + `"}]
`
}

// count is how many pods there are.
func (c *followed) count(h *hand) int {
	if c.daemons {
		return strings.Count(h.sh("kubectl get nodes -o name"), "\n")
	}
	return 4
}

// uids are the pods of the application.
const uids = `kubectl get pods -l app=web -o jsonpath='{range .items[*]}{.metadata.uid} {.spec.containers[0].image} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}'`

func follow(t *testing.T, c followed) {
	t.Helper()
	h := newHand(t)
	base, next := h.write("old.yaml", c.old), h.write("new.yaml", c.new)
	before := h.render("base.yaml", append([]string{"-f", base}, c.how...)...)
	h.sh("kubectl apply -f " + before)
	workload, total := before, c.count(h)
	if c.beside != "" {
		workload = h.write("beside.yaml", c.beside)
		h.sh("kubectl apply -f " + workload)
	}
	h.sh(fmt.Sprintf("kubectl wait -f %s --for=jsonpath='{.status.%s}'=%d --timeout=10m", workload, cmp.Or(c.ready, "readyReplicas"), total))
	were := h.sh(uids)

	args := append(append([]string{"-f", next, "--against", base, "--patches-dir", h.folder}, c.how...), c.steps...)
	if c.pods {
		args = append(args, "--with", h.write("with.yaml", h.sh("kubectl get pods,controllerrevisions -o yaml")))
	}
	after := h.render("after.yaml", args...)
	for _, o := range h.index().Created {
		if o.Name == "web-canary" {
			h.sh("kubectl apply -f " + after + " -l kubectl-kruise.dev/track=canary")
		}
	}
	if h.follow() == 0 {
		t.Fatal("no steps")
	}
	now := h.sh(uids)
	updated := c.updated
	if c.daemons {
		updated = total
	}
	if n := strings.Count(now, cmp.Or(c.image, webTwo)+" True"); n != updated || strings.Count(now, "\n") != total {
		t.Errorf("want %d of %d pods updated and ready:\n%s", updated, total, now)
	}
	for line := range strings.Lines(were) {
		if id, _, _ := strings.Cut(line, " "); c.inPlace && !strings.Contains(now, id) {
			t.Errorf("pod %s is gone:\n%s", id, now)
		}
	}
	if changed := h.sh("kubectl diff -f " + after + " || test $? = 1"); strings.Contains(changed, "image:") {
		t.Errorf("the cluster is not as it was rendered:\n%s", changed)
	}
}
