package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

type m = map[string]any

// template is what the checkout of the shop puts into pods, with a secret in it.
func template(tag, password string) m {
	return m{
		"metadata": m{"labels": m{"app": "checkout", "team": "orders"}},
		"spec": m{"containers": []any{
			m{"name": "app", "image": "registry.example.com/orders/checkout:" + tag, "env": []any{
				m{"name": "DB_PASSWORD", "value": password}, m{"name": "MODE", "value": "strict"},
			}},
			m{"name": "cache", "image": "registry.example.com/orders/cache:3"},
		}},
	}
}

// at is the diff of a workload of the demo, held still, with other revisions.
func diffOf(t *testing.T, ref cluster.Ref, change func(*diagnose.Question)) (tui.Options, *tuitest.Still) {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := shop.Await(t.Context(), 0, world.Want{Workload: ref})
	if err != nil {
		t.Fatal(err)
	}
	next, d := *w, *w.Detail
	if change != nil {
		change(&d.Question)
	}
	next.Detail = &d
	still := tuitest.NewStill(next)
	return tui.Options{Source: still, Actions: still, First: screen.Open{Screen: screen.Diff, Ref: ref}}, still
}

var (
	checkout = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "checkout"}
	mesh     = cluster.Ref{Group: "apps.kruise.io", Kind: "SidecarSet", Name: "mesh"}
)

// three are revisions of which the second changed an image and the third a secret; the
// second is the present one.
func three(q *diagnose.Question) {
	w := *q.Snapshot.Workload
	w.Template = template("2.0.0", "hunter2")
	q.Snapshot.Workload = &w
	q.Snapshot.Revisions = nil
	for i, c := range [][2]string{{"1.9.4", "hunter2"}, {"2.0.0", "hunter2"}, {"2.0.0", "hunter3"}} {
		q.Snapshot.Revisions = append(q.Snapshot.Revisions, cluster.Revision{Name: fmt.Sprintf("checkout-r%d", i+1), Number: int64(i + 1), Template: template(c[0], c[1])})
	}
}

func TestDiff_EqualsTheGoldens(t *testing.T) {
	o, _ := diffOf(t, checkout, three)
	tuitest.Golden(t, "diff", o, func(s *tuitest.Session) string { return s.Until("revision 1", "revision 2", "FIELDS") })
	o, _ = diffOf(t, mesh, nil)
	tuitest.Golden(t, "sidecarset", o, func(s *tuitest.Session) string { return s.Until("revision", "FIELDS", "proxy:1.21") })
}

// TestDiff_ShowsChangesAndTheirEffect: what changed, what it means for pods, and which lines.
func TestDiff_ShowsChangesAndTheirEffect(t *testing.T) {
	o, _ := diffOf(t, checkout, three)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("- from revision 1  checkout-r1", "+ to   revision 2  checkout-r2", "present",
		"spec.containers[0].image  can change in place, restarts app", "    - registry.example.com/orders/checkout:1.9.4",
		"-    image: registry.example.com/orders/checkout:1.9.4", "+    image: registry.example.com/orders/checkout:2.0.0")
}

// TestDiff_MasksSecrets checks that a changed secret is reported without either of its values.
func TestDiff_MasksSecrets(t *testing.T) {
	o, _ := diffOf(t, checkout, three)
	s := tuitest.Start(t, o, tuitest.Sizes[2])
	s.Until("revision 2")
	s.Press("]")
	frame := s.Until("revision 3", "spec.containers[0].env[0].value", "needs a new pod", "nothing that can be shown differs")
	s.Press("b")
	frame += s.Until("from revision 1", "to   revision 3", "value: '***'")
	s.Press("f")
	frame += s.Until("app: checkout", "value: strict")
	if strings.Contains(frame, "hunter") {
		t.Error(tuitest.Plain(frame))
	}
}

// TestDiff_ChoosesRevisions: older and newer, a base further back, and by numbers.
func TestDiff_ChoosesRevisions(t *testing.T) {
	o, _ := diffOf(t, checkout, three)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("from revision 1", "to   revision 2")
	s.Press("o")
	s.Until("from revision 1", "to   revision 2")
	s.Press("O")
	s.Until("from revision 2", "to   revision 3")
	s.Press("O", "o")
	s.Until("from revision 1", "to   revision 2")
	s.Press(":").Type("revisions 3 1").Press("enter")
	s.Until("from revision 3", "to   revision 1")
	s.Press(":").Type("revisions 3 7").Press("enter")
	s.Until("there is no revision 7")
	s.Press(":").Type("revisions 3").Press("enter")
	s.Until("FROM TO, by their numbers")
	s.Press("/").Type("IMAGE:").Press("enter")
	s.Until("/IMAGE: 1 of")
}

// TestDiff_WithoutDifferences: without two revisions it shows that.
func TestDiff_WithoutDifferences(t *testing.T) {
	for want, n := range map[string]int{"only one revision": 1, "no revision of cloneset/checkout": 0} {
		o, _ := diffOf(t, checkout, func(q *diagnose.Question) { q.Snapshot.Revisions = q.Snapshot.Revisions[:n] })
		s := tuitest.Start(t, o, tuitest.Sizes[0])
		s.Until(want)
		s.Press("o", "O", "b", "f")
		s.Until(want)
	}
	o, _ := diffOf(t, checkout, nil)
	o.First.Ref.Name = "missing"
	tuitest.Start(t, o, tuitest.Sizes[0]).Until("cloneset/missing does not exist")
}
