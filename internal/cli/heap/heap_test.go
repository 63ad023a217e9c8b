package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

func TestMain(m *testing.M) { hermetic.Main(m) }

func TestStart_HasTheUsualGrowthAfterTheFirstCollection(t *testing.T) {
	defer debug.SetGCPercent(growth())
	start()
	if got := growth(); got != starting {
		t.Fatalf("growth at the start = %d, want %d", got, starting)
	}
	for end := time.Now().Add(10 * time.Second); growth() != usual; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("growth after collections = %d, want %d", growth(), usual)
		}
	}
}

func TestStart_LeavesTheGrowthThatAVerbHasSet(t *testing.T) {
	defer debug.SetGCPercent(growth())
	cleaned := make(chan struct{})
	start()
	runtime.AddCleanup(&struct{ _ [32]byte }{}, func(done chan struct{}) { close(done) }, cleaned)
	SetGrowth(200)
	for collected := false; !collected; {
		runtime.GC()
		select {
		case <-cleaned:
			collected = true
		case <-time.After(time.Millisecond):
		}
	}
	if got := growth(); got != 200 {
		t.Errorf("growth = %d, want 200", got)
	}
}
