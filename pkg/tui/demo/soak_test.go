package demo_test

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var soak = flag.Duration("soak", time.Hour, "how long rollouts of the shop go on, in the time of the model")

// size is what the program holds.
type size struct {
	heap, routines int
}

func measured() size {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return size{int(m.HeapAlloc), runtime.NumGoroutine()}
}

// TestAdvance_MemoryDoesNotGrow starts, fails, promotes and rolls back rollouts of every kind, and
// checks that memory stays bounded; make soak runs it for a day.
func TestAdvance_MemoryDoesNotGrow(t *testing.T) {
	c := open(t)
	const turn = 10 * time.Minute
	begun := 0
	var warm size
	for at := time.Duration(0); at < *soak; at += turn {
		if err := c.Advance(turn); err != nil {
			t.Fatal(err)
		}
		begun += goOn(t, c)
		if at <= *soak/6 {
			warm = measured()
		}
	}
	now := measured()
	t.Logf("%d rollouts in %s: from %d KiB and %d goroutines to %d KiB and %d", begun, *soak, warm.heap>>10, warm.routines, now.heap>>10, now.routines)
	if now.heap > warm.heap*3/2 || now.routines > warm.routines+2 || begun < int(*soak/turn) {
		t.Error("that is not flat, or not much of a soak")
	}
}

// goOn promotes what waits for approval, and takes back what is through or has halted. It
// returns how many rollouts that began.
func goOn(t *testing.T, c *demo.Cluster) (begun int) {
	t.Helper()
	for _, row := range look(t, c, world.Want{}).Workloads {
		verb := world.Undo
		if row.Health == world.Paused {
			verb = world.Promote
		}
		// What cannot be taken back any more stands until the next turn.
		if _, err := c.Do(t.Context(), world.Act{Verb: verb, On: []cluster.Ref{row.Ref}}); err == nil && verb == world.Undo {
			begun++
		}
	}
	return begun
}
