// Package story runs verbs of the command line, from the root command on, against a cluster in the test's own process.
package story

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// Story is a cluster and the namespace shop in it.
type Story struct {
	*Cluster
	*testing.T

	folder string
	// answers are what a person types; nil is no terminal.
	answers io.Reader
}

// Namespace is where stories play.
const Namespace = "shop"

// Start gives the test its cluster, with documents applied and so many pods ready.
func Start(t *testing.T, pods int, documents ...string) *Story {
	t.Helper()
	t.Parallel()
	factory.SilenceLogs() // before anything of the cluster runs
	return (&Story{T: t, folder: t.TempDir()}).Elsewhere(pods, documents...)
}

// Elsewhere is another cluster for the same user at the same machine, made as by [Start].
func (s *Story) Elsewhere(pods int, documents ...string) *Story {
	t := s.T
	t.Helper()
	s = &Story{Cluster: startCluster(t), T: t, folder: s.folder}
	s.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+Namespace+"}}")
	s.Apply(t, Namespace, strings.Join(documents, "\n---\n"))
	s.Await(t, "pods are ready", func() bool { return len(s.Ready(t, Namespace)) == pods })
	return s
}

// AnotherMachine is the same user at the same cluster, from a machine on which nothing was approved.
func (s *Story) AnotherMachine() *Story {
	return &Story{Cluster: s.Cluster, T: s.T, folder: s.TempDir()}
}

// Answering is the same user at a terminal, who types this.
func (s *Story) Answering(answers io.Reader) *Story {
	return &Story{s.Cluster, s.T, s.folder, answers}
}

// Result is what a command did.
type Result struct {
	t        *testing.T
	args     string
	Code     int
	Out, Err string
}

// Running is a command that has not ended.
type Running struct {
	// Interrupt is what ctrl-c does.
	Interrupt context.CancelFunc
	ended     chan *Result
}

// End waits for the end of the command.
func (r *Running) End() *Result { return <-r.ended }

// Begin is Run beside the test.
func (s *Story) Begin(line string, more ...string) *Running {
	ctx, cancel := context.WithCancel(s.Context())
	r := &Running{cancel, make(chan *Result, 1)}
	go func() { r.ended <- s.run(ctx, s.Kubeconfig, append(strings.Fields(line), more...)) }()
	s.Cleanup(cancel)
	return r
}

// Run runs a command; words with spaces come as own arguments. It may be called from any goroutine.
func (s *Story) Run(line string, more ...string) *Result {
	return s.run(s.Context(), s.Kubeconfig, append(strings.Fields(line), more...))
}

// patience is how long a command may take before it is interrupted, and an event may be waited for: what hangs fails its
// own story, by name.
const patience = 3 * time.Minute

func (s *Story) run(ctx context.Context, kubeconfig string, words []string) *Result {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, errOut bytes.Buffer
	args := append([]string{"kubectl-kruise", "-n", Namespace, "--kubeconfig", kubeconfig}, words...)
	streams := factory.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut, Environ: []string{"GOGC=400", "USER=anna", "XDG_STATE_HOME=" + s.folder}}
	if s.answers != nil {
		streams.In, streams.InTTY = s.answers, true
	}
	code := cli.Main(ctx, args, streams)
	return &Result{s.T, strings.Join(words, " "), code, out.String(), errOut.String()}
}

// Ends fails the test unless the command ended with a code, and said all of this.
func (r *Result) Ends(code int, want ...string) *Result {
	r.t.Helper()
	if r.Code != code {
		r.t.Fatalf("%s: exit %d, want %d\n%s\n%s", r.args, r.Code, code, r.Out, r.Err)
	}
	for _, text := range want {
		if !strings.Contains(r.Out+r.Err, text) {
			r.t.Fatalf("%s: no %q in\n%s\n%s", r.args, text, r.Out, r.Err)
		}
	}
	return r
}

// File writes a file, and returns its path.
func (s *Story) File(name, text string) string {
	s.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// Images counts the ready pods of each image, without its registry; with a label, of each of its values before it.
func (s *Story) Images(label string) map[string]int {
	s.Helper()
	out := map[string]int{}
	for _, p := range s.Ready(s.T, Namespace) {
		image := p.Spec.Containers[0].Image
		image = image[strings.LastIndex(image, "/")+1:]
		if label != "" {
			image = p.Labels[label] + " " + image
		}
		out[image]++
	}
	return out
}

// Has fails the test unless these are the images of ready pods.
func (s *Story) Has(label string, want map[string]int) {
	s.Helper()
	if got := s.Images(label); !maps.Equal(got, want) {
		s.Fatalf("pods run %v, want %v", got, want)
	}
}

// Reaches waits until these are the images of ready pods.
func (s *Story) Reaches(label string, want map[string]int) {
	s.Helper()
	s.Await(s.T, "these images", func() bool { return maps.Equal(s.Images(label), want) })
}

// Object reads an object of a kind such as CloneSet, of Kruise where there are two.
func (s *Story) Object(kind, name string) *unstructured.Unstructured {
	s.Helper()
	u := s.Find(kind, name)
	if u == nil {
		s.Fatalf("no %s %s", kind, name)
	}
	return u
}

// Find is Object, or nil.
func (s *Story) Find(kind, name string) *unstructured.Unstructured {
	s.Helper()
	for _, at := range []schema.GroupVersion{{Group: "apps.kruise.io", Version: "v1beta1"}, {Group: "apps", Version: "v1"}, {Version: "v1"}, {Group: "coordination.k8s.io", Version: "v1"}} {
		if r := s.Served(at.WithKind(kind)); r != nil {
			return s.Cluster.Find(s.T, r.GroupVersion().WithResource(r.Plural), Namespace, name)
		}
	}
	s.Fatalf("%s is not served", kind)
	return nil
}

// Pod is the first pod that is not being deleted.
func (s *Story) Pod() corev1.Pod {
	s.Helper()
	return s.Pods(s.T, Namespace)[0]
}

// Number is a field that is a number, 0 where it is not set.
func Number(u *unstructured.Unstructured, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, path...)
	return n
}

// CloneSet is a document: in place, one pod at a time.
func CloneSet(name string, replicas, image string) string {
	return `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: ` + name + `, labels: {team: shop}}
spec:
  replicas: ` + replicas + `
  selector: {matchLabels: {app: ` + name + `}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/` + image + `"}]}
`
}
