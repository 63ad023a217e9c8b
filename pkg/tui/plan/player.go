package plan

import "time"

// player is where in a simulation one is. Its time is that of the simulation.
type player struct {
	at      time.Duration
	playing bool
	// speed is how many seconds of the simulation a second shows.
	speed int
	// turn tells the frame that was asked for from those of before, missed counts
	// changes of the world since then.
	turn   *turnOf
	missed int
}

// turnOf is the identity of a frame, or of a simulation, that was asked for: another
// screen may be about the same workload.
type turnOf struct{ _ byte }

// frame says that the time of one has gone by.
type frame struct{ turn *turnOf }

const (
	// beat is how long a frame is shown.
	beat = 100 * time.Millisecond
	// fastest is the highest speed; all are powers of two.
	fastest = 4096
	// usual is how long a whole simulation takes to be played, about, unless somebody
	// says otherwise.
	usual = 20 * time.Second
	// scrubs is in how many steps the left and right keys go through all of it.
	scrubs = 50
)

// pace is the speed at which a simulation is played within the usual time.
func pace(lasts time.Duration) int {
	speed := 1
	for speed < fastest && lasts > usual*time.Duration(speed) {
		speed *= 2
	}
	return speed
}

// advanced is one frame later; at the end it stops.
func (p player) advanced(r *run) player {
	p.at += beat * time.Duration(p.speed)
	if p.at >= r.lasts() {
		p.at, p.playing = r.lasts(), false
	}
	return p
}

// scrubbed is after a key.
func (p player) scrubbed(r *run, key string) player {
	switch {
	case back.Is(key):
		p.at -= r.lasts() / scrubs
	case ahead.Is(key):
		p.at += r.lasts() / scrubs
	case before.Is(key):
		p.at = p.stepBefore(r)
	case after.Is(key):
		p.at = p.stepAfter(r)
	case first.Is(key):
		p.at = 0
	case last.Is(key):
		p.at = r.lasts()
	case faster.Is(key):
		p.speed = min(p.speed*2, fastest)
	case slower.Is(key):
		p.speed = max(p.speed/2, 1)
	}
	p.at = min(max(p.at, 0), r.lasts())
	return p
}

// stepBefore is when the step before began, or the present one where that was a while
// ago.
func (p player) stepBefore(r *run) time.Duration {
	at := time.Duration(0)
	for _, m := range r.line.Steps {
		if m.Begin < p.at {
			at = max(at, m.Begin)
		}
	}
	return at
}

func (p player) stepAfter(r *run) time.Duration {
	for _, m := range r.line.Steps {
		if m.Begin > p.at {
			return m.Begin
		}
	}
	return r.lasts()
}
