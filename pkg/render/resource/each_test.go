package resource

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// TestInOrder_KeepsTheOrder: results arrive in the order of their numbers, each once, however many
// there are.
func TestInOrder_KeepsTheOrder(t *testing.T) {
	for _, n := range []int{0, 1, atOnce - 1, atOnce, 2*atOnce + 7} {
		var got []int
		if err := InOrder(t.Context(), 5, n, nil, func(i int) int { return i * i }, func(v int) { got = append(got, v) }); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != i*i {
				t.Fatalf("of %d: result %d is %d", n, i, v)
			}
		}
		if len(got) != n {
			t.Errorf("%d results of %d", len(got), n)
		}
	}
}

// TestInOrder_StopsEarly: nothing is called after the stop, and its error is returned.
func TestInOrder_StopsEarly(t *testing.T) {
	var calls atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	err := InOrder(ctx, 2, 3*atOnce, nil, func(int) int {
		if calls.Add(1) == 10 {
			stop()
		}
		return 0
	}, func(int) { t.Error("a result of what was stopped") })
	if !errors.Is(err, context.Canceled) || calls.Load() > 12 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// TestErrors_BeyondTheMostAreCounted: however errors are joined and added again, none is lost from the
// count and no more than the most are kept.
func TestErrors_BeyondTheMostAreCounted(t *testing.T) {
	var inner, outer Errors
	for i := range MostErrors + 234 {
		inner.Add(fmt.Errorf("%d", i))
	}
	outer.Add(errors.New("before"))
	outer.Add(inner.Err())
	outer.Add(errors.New("behind"))
	outer.Add(errors.Join(errors.New("a"), inner.Err()))
	if n := len(outer); n != MostErrors+1 {
		t.Fatalf("%d are kept", n)
	}
	if got, want := outer[MostErrors].Error(), fmt.Sprintf("%d more errors", 2*(MostErrors+234)+3-MostErrors); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if inner[0].Error() != "0" || inner[MostErrors].Error() != "234 more errors" {
		t.Errorf("got %v and %v", inner[0], inner[MostErrors])
	}
}
