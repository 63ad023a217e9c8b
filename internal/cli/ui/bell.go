package ui

import (
	"context"
	"sync"
	"time"
)

// bell counts changes and wakes whoever waits for one.
type bell struct {
	mu      sync.Mutex
	version int64
	wake    chan struct{}
}

func newBell() *bell { return &bell{version: 1, wake: make(chan struct{})} }

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	close(b.wake)
	b.wake = make(chan struct{})
}

func (b *bell) now() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// wait returns when the version is newer, or after a time, which counts as a change:
// the clock has gone on.
func (b *bell) wait(ctx context.Context, since int64, most time.Duration) error {
	b.mu.Lock()
	version, wake := b.version, b.wake
	b.mu.Unlock()
	if version > since {
		return ctx.Err()
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-timer.C:
		b.ring()
	}
	return nil
}
