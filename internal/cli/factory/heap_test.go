package factory

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestStartHeap_HasTheUsualGrowthAfterTheFirstCollection(t *testing.T) {
	defer debug.SetGCPercent(heapGrowth())
	startHeap()
	if got := heapGrowth(); got != startingGrowth {
		t.Fatalf("growth at the start = %d, want %d", got, startingGrowth)
	}
	for end := time.Now().Add(10 * time.Second); heapGrowth() != usualGrowth; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("growth after collections = %d, want %d", heapGrowth(), usualGrowth)
		}
	}
}

func TestStartHeap_LeavesTheGrowthThatAVerbHasSet(t *testing.T) {
	defer debug.SetGCPercent(heapGrowth())
	cleaned := make(chan struct{})
	startHeap()
	runtime.AddCleanup(&struct{ _ [32]byte }{}, func(done chan struct{}) { close(done) }, cleaned)
	SetHeapGrowth(200)
	for collected := false; !collected; {
		runtime.GC()
		select {
		case <-cleaned:
			collected = true
		case <-time.After(time.Millisecond):
		}
	}
	if got := heapGrowth(); got != 200 {
		t.Errorf("growth = %d, want 200", got)
	}
}
