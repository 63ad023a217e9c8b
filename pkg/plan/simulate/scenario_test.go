package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// scenario is a world with five nodes, n0 to n4, in which one object is watched.
// Its pods are p1, p2 … in the order in which they were made.
type scenario struct {
	*World
	t     *testing.T
	ref   cluster.Ref
	names map[string]string
}

// play applies documents, the first of which is watched, and waits until all is
// quiet. Pods come up more than a second apart when they are given one by one.
func play(t *testing.T, text string) *scenario {
	t.Helper()
	o := lab()
	o.Agent.Unpullable = func(image string) bool { return strings.HasSuffix(image, ":bad") }
	o.Agent.Override = steered
	s := &scenario{World: New(o), t: t, names: map[string]string{}}
	for i := range 5 {
		s.AddNode(fmt.Sprintf("n%d", i), map[string]string{"name": fmt.Sprintf("n%d", i)})
	}
	s.onCreate = func(e *pod) { s.names[e.Name] = fmt.Sprintf("p%d", len(s.names)+1) }
	docs, err := conformance.Docs([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, doc := range docs {
		n := tree.FromValue(doc)
		if i == 0 {
			s.ref = refOf(n)
		}
		if err := s.Apply(n); err != nil {
			t.Fatal(err)
		}
		s.settle()
	}
	return s
}

func (s *scenario) settle() {
	s.t.Helper()
	if ok, err := s.SettleFor(30*time.Second, time.Hour); !ok || err != nil {
		s.t.Fatalf("it does not settle: %v", err)
	}
}

// grow adds a replica every two seconds, so that the pods are ready one after
// another.
func (s *scenario) grow(ref cluster.Ref, replicas int) {
	s.t.Helper()
	for n := 1; n <= replicas; n++ {
		s.patch(ref, fmt.Sprintf("{spec: {replicas: %d}}", n))
		if err := s.Run(s.Now().Add(2 * time.Second)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.settle()
}

func (s *scenario) patch(ref cluster.Ref, text string) {
	s.t.Helper()
	v, _ := tree.Value(parse(s.t, text)).(map[string]any)
	if err := s.MergePatch(ref, v); err != nil {
		s.t.Fatal(err)
	}
}

// step patches the watched object, waits, and returns what was done to pods, wave
// by wave.
func (s *scenario) step(text string) []string {
	s.t.Helper()
	s.watch()
	s.patch(s.ref, text)
	s.settle()
	return s.waves()
}

func (s *scenario) watch() {
	s.t.Helper()
	if err := s.Watch(s.ref); err != nil {
		s.t.Fatal(err)
	}
}

// acts are the ops that a wave shows.
var acts = []Op{OpInPlace, OpApplyImages, OpSidecarUpdate, OpMarkDelete, OpCreate, OpDelete}

// waves groups acts as the recordings do: a wave ends when nothing was done for
// 0.45 s. Inside it they are sorted.
func (s *scenario) waves() []string {
	var out []string
	var wave []string
	last := time.Duration(-1)
	end := func() {
		if len(wave) > 0 {
			slices.Sort(wave)
			out, wave = append(out, strings.Join(wave, ", ")), nil
		}
	}
	for _, r := range s.Timeline().Records {
		if !slices.Contains(acts, r.Op) {
			continue
		}
		if last >= 0 && r.At-last > 450*time.Millisecond {
			end()
		}
		last = r.At
		wave = append(wave, string(r.Op)+" "+s.names[r.Pod])
	}
	end()
	return out
}

func (s *scenario) expect(what string, want, got []string) {
	s.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// pods shows the images of each pod, by the order of creation.
func (s *scenario) images() map[string]string {
	out := map[string]string{}
	for _, p := range s.all.now {
		var images []string
		for _, c := range p.Containers {
			images = append(images, c.Image)
		}
		out[s.names[p.Name]] = strings.Join(images, " ")
	}
	return out
}
