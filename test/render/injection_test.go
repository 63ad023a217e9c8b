package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// question is one input that is answered in two ways: by policies on the server,
// and by injection.
type question struct {
	name   string
	number int
	// policies are the rendered policies and bindings, around what else must exist.
	policies, around []map[string]any
	// pod is what is sent with the policies in force, and want what injection makes
	// of it; nil when injection refuses it.
	pod, want map[string]any
	// expected is what the server stores of want.
	expected map[string]any
}

// TestAdmission_EqualsInjection: the pod that comes out of the API server with the
// rendered policies in force is the one that injection renders, for every recorded
// case of injection and the cases of testdata that are expressible.
func TestAdmission_EqualsInjection(t *testing.T) {
	c, _ := cluster.Shared(t, cluster.WithNodes())
	questions, counts := ask(t, minor(t, c))
	l := newLab(t, c)
	l.prepare(t, questions)
	// The server calls policies in an order that changes whenever one does.
	for round := range 3 {
		l.inForce(t, round)
		for _, q := range questions {
			l.compare(t, q)
		}
	}
	t.Logf("admission equals injection: %s", counts)
	if len(questions) < 60 {
		t.Errorf("only %d questions", len(questions))
	}
}

// tally counts what became of the inputs.
type tally struct{ policies, injected, revisions, refused, nothing int }

func (n tally) String() string {
	return fmt.Sprintf("%d cases as policies, %d kept for injection, %d ask for a revision, %d refused either way, %d without SidecarSets",
		n.policies, n.injected, n.revisions, n.refused, n.nothing)
}

// ask renders every input in both ways.
func ask(t *testing.T, minor int) (out []*question, n tally) {
	t.Helper()
	for i, in := range append(recorded(t), own(t)...) {
		opt := engine.Options{Kubernetes: minor, Target: engine.Kruise, Expand: []string{"SidecarSet"}}
		want, _, refused := rendered(in.stream, in.context, opt)
		opt.SidecarSetAs = stage.Admission
		docs, findings, err := rendered(in.stream, in.context, opt)
		q := &question{name: in.name, number: i + 1}
		for _, d := range docs {
			q.sort(d)
		}
		switch {
		case findings["sidecarset/admission-revision"]:
			n.revisions++
			continue
		case err != nil && refused == nil:
			t.Errorf("%s: only as a policy: %v", in.name, err)
			continue
		case err != nil:
			n.refused++
			if in.own {
				t.Errorf("%s: %v", in.name, err)
			}
			continue
		case findings["sidecarset/admission-injected"]:
			n.injected++
		case len(q.policies) == 0:
			n.nothing++
		default:
			n.policies++
		}
		q.pod, q.want = conformance.Subject(docs), conformance.Subject(want)
		if refused != nil {
			q.want = nil
		}
		out = append(out, q)
	}
	return out, n
}

func (q *question) sort(d map[string]any) {
	switch d["kind"] {
	case "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		q.policies = append(q.policies, d)
	case "Namespace", "ServiceAccount", "LimitRange":
		q.around = append(q.around, d)
	}
}

type input struct {
	name            string
	own             bool
	stream, context []map[string]any
}

// recorded are the cases of the real Kruise.
func recorded(t *testing.T) (out []input) {
	t.Helper()
	for _, c := range conformance.List(t, "injection") {
		stream, context, err := conformance.InjectionScene(c)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, input{name: c.Name, stream: stream, context: context})
	}
	return out
}

// own are inputs on which the order of policies and the rarer rules hang.
func own(t *testing.T) (out []input) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := conformance.Docs(data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, input{name: strings.TrimSuffix(filepath.Base(file), ".yaml"), own: true, stream: docs})
	}
	return out
}
