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

// TestUpdate_DiagnosesInACommand: a change of the workload is drawn at once, and the diagnosis
// follows by a message, so a slow one cannot hold keys up.
func TestUpdate_DiagnosesInACommand(t *testing.T) {
	ref := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	state := func() *world.Detail {
		d := &world.Detail{}
		d.Ref, d.Name = ref, "cloneset/web"
		d.Snapshot.Pods = []*cluster.Pod{{Namespace: "shop", Name: "web-1", UID: "1"}}
		return d
	}
	first, second := state(), state()
	env := screen.Env{Theme: &draw.Theme{}, World: &world.World{Detail: first}, Width: 80, Height: 20}

	s, after := New(screen.Open{Ref: ref, Pod: "web-1"}).Update(env, screen.Changed{})
	command, ok := after.(screen.Later)
	if !ok || !strings.Contains(page(s, env), "looking for the cause") {
		t.Fatalf("%T, page:\n%s", after, page(s, env))
	}
	env.World = &world.World{Detail: second}
	if s, after = s.Update(env, screen.Changed{}); after != nil {
		t.Fatal("a second diagnosis starts while the first one runs")
	}
	s, after = s.Update(env, command())
	if strings.Contains(page(s, env), "looking for the cause") || !strings.Contains(page(s, env), "not a pod of cloneset/web") {
		t.Errorf("the answer is not shown:\n%s", page(s, env))
	}
	if command, ok = after.(screen.Later); !ok {
		t.Fatal("the state that came meanwhile is not diagnosed")
	}
	if _, after = s.Update(env, command()); after != nil {
		t.Error("a state is diagnosed twice")
	}
}
