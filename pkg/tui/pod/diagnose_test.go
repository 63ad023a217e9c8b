package pod

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// page is all that a screen would draw.
func page(s screen.Screen, env screen.Env) string {
	var b strings.Builder
	for _, l := range s.Draw(env) {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// TestUpdate_DiagnosesWhatIsSeen: the diagnosis on the page is that of the state on the page.
func TestUpdate_DiagnosesWhatIsSeen(t *testing.T) {
	ref := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	var s screen.Screen = New(screen.Open{Ref: ref, Pod: "web-1"})
	for _, name := range []string{"cloneset/web", "cloneset/other"} {
		d := &world.Detail{}
		d.Ref, d.Name = ref, name
		d.Snapshot.Pods = []*cluster.Pod{{Namespace: "shop", Name: "web-1", UID: "1"}}
		env := screen.Env{Theme: &draw.Theme{}, World: &world.World{Detail: d}, Width: 80, Height: 20}
		next, after := s.Update(env, screen.Changed{})
		if s = next; after != nil || !strings.Contains(page(s, env), "not a pod of "+name) {
			t.Errorf("%T, page:\n%s", after, page(s, env))
		}
	}
}
