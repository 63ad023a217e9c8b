package standin

import (
	"sync"
	"time"
)

// Pace is how late the controllers are. What depends on it says nothing about their rules:
// a pod that is updated after the one before it has started again was not updated with it.
type Pace struct {
	mu   sync.Mutex
	late time.Duration
}

// note takes in that a controller needed this long: from the first change that it had not
// looked at to the end of its writes.
func (p *Pace) note(d time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = max(p.late, d)
}

// Restart forgets what was noted, and returns the longest delay of it.
func (p *Pace) Restart() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	late := p.late
	p.late = 0
	return late
}
