package kube

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// bell counts changes and wakes whoever waits for one.
type bell struct {
	mu    sync.Mutex
	count uint64
	wake  chan struct{}
}

func newBell() *bell { return &bell{wake: make(chan struct{})} }

// ring notes a change.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	close(b.wake)
	b.wake = make(chan struct{})
}

// now is the present count as a version, with what is closed at the next change.
func (b *bell) now() (string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strconv.FormatUint(b.count, 36), b.wake
}

// wait returns when the version is not since any more, or at a time; zero is never.
func (b *bell) wait(ctx context.Context, since string, until time.Time) error {
	var end <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		end = timer.C
	}
	for {
		version, wake := b.now()
		if version != since {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end:
			return nil
		case <-wake:
		}
	}
}

// settle waits a moment.
func (b *bell) settle(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
