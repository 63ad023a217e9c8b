package life

import (
	"cmp"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// state is where a container is between being asked for and its end.
type state int

const (
	pending  state = iota // nothing done yet
	pulling               // until the image is there
	failing               // the image cannot be had; tried again at until
	starting              // until it runs
	running               //
	stopping              // asked to end, gone at until
	exited                // ended; comes back at until if it may
)

// container is one container over all its restarts.
type container struct {
	name      string
	state     state
	until     time.Time
	image     string // the reference that is asked for
	ran       string // the reference that ran last, which the status tells until another one runs
	imageID   string
	id        string
	restarts  int32
	starts    int // in this model's life
	crashes   int // in a row
	attempts  int // of pulling, in a row
	reason    string
	message   string
	started   time.Time
	finished  time.Time
	code      int32
	last      *corev1.ContainerStateTerminated
	resources *corev1.ResourceRequirements
	replace   bool // the coming start is no crash: image, resize, recreate request
	instant   bool // the coming start follows a failed pull and takes no time
	kill      *kill
	exit      *int32
}

// kill is a request to stop a container with a grace period of its own.
type kill struct{ grace time.Duration }

// role is what a container is in its pod.
type role int

const (
	regular role = iota
	sidecar      // restartable init container
	initial      // plain init container
	ephemeral
)

// turn is all that one look at a container depends on.
type turn struct {
	now     time.Time
	pod     *corev1.Pod
	spec    *corev1.Container
	role    role
	host    *Host
	script  script
	restart corev1.RestartPolicy
	closing bool // nothing is started any more
	result  *Result
}

// advance takes the container as far as it gets at this moment.
func (c *container) advance(t turn) {
	for c.next(t) {
	}
}

// next makes one transition and says whether there was one.
func (c *container) next(t turn) bool {
	switch c.state {
	case pending:
		return c.pull(t)
	case pulling:
		return c.changed(t) || c.due(t) && c.begin(t)
	case failing:
		return c.changed(t) || c.due(t) && c.to(pending)
	case starting:
		return c.changed(t) || c.due(t) && c.run(t)
	case running:
		return c.watch(t)
	case stopping:
		return c.due(t) && c.ended(t, c.code)
	default:
		return c.revive(t)
	}
}

func (c *container) to(s state) bool { c.state = s; return true }

// due reports whether until is reached, and asks to be woken then.
func (c *container) due(t turn) bool {
	if t.now.Before(c.until) {
		t.wake(c.until)
		return false
	}
	return true
}

// changed starts over when the image is patched before the container runs. After
// a failed pull the good image starts at once.
func (c *container) changed(t turn) bool {
	if t.spec.Image == c.image {
		return false
	}
	c.instant = c.state == failing
	c.attempts = 0
	return c.to(pending)
}

// pull asks the node for the image and for the image volumes that are mounted.
func (c *container) pull(t turn) bool {
	c.image = t.spec.Image
	takes, ok := t.script.duration(pullAnnotation, c.name)
	if !ok {
		takes = t.host.Timing.Pull
	}
	c.until = t.now
	for _, want := range wanted(t.pod, t.spec) {
		at, err := t.host.Images.Ask(want.ref, want.policy, t.now, takes)
		if err != nil {
			return c.fail(t, err)
		}
		c.until = later(c.until, at)
	}
	c.attempts = 0
	c.reason, c.message = "ContainerCreating", ""
	return c.to(pulling)
}

// fail waits for the next try, in the kubelet's words: the error first, then that
// it backs off.
func (c *container) fail(t turn, err error) bool {
	reason, _, _ := strings.Cut(err.Error(), ":")
	c.reason, c.message = reason, err.Error()
	if c.attempts > 0 && reason == errPull.Error() {
		c.reason = "ImagePullBackOff"
		c.message = "Back-off pulling image " + t.spec.Image
	}
	c.until = t.now.Add(pause(t.host.Timing, c.attempts))
	c.attempts++
	t.result.Events = append(t.result.Events, Event{"Failed", c.message})
	t.wake(c.until)
	c.state = failing
	return false
}

// begin starts with an image that is there.
func (c *container) begin(t turn) bool {
	c.until = t.now.Add(t.host.Timing.Start)
	if c.instant {
		c.until = t.now
	}
	c.instant = false
	return c.to(starting)
}

// run is the moment of the start.
func (c *container) run(t turn) bool {
	if c.id != "" {
		c.restarts++
	}
	c.starts++
	c.replace = false
	c.id = "containerd://" + randomID()
	c.ran, c.imageID = c.image, ImageID(c.image)
	c.started = t.now
	c.resources = t.spec.Resources.DeepCopy()
	c.reason, c.message = "", ""
	return c.to(running)
}

// watch is a running container's turn: what was asked of it, what its script
// says, and what changed in the spec.
func (c *container) watch(t turn) bool {
	switch {
	case c.exit != nil:
		return c.ended(t, *c.exit)
	case c.kill != nil:
		return c.stop(t, c.kill.grace)
	case t.spec.Image != c.image:
		return c.replaced(t)
	case !equality.Semantic.DeepEqual(*c.resources, t.spec.Resources):
		return c.resized(t)
	}
	at, code, ends := t.fate(c)
	if !ends {
		return false
	}
	if t.now.Before(at) {
		t.wake(at)
		return false
	}
	return c.ended(t, code)
}

// replaced stops the container for another one in its place. The running one goes
// first, even if the new image cannot be had.
func (c *container) replaced(t turn) bool {
	c.replace = true
	return c.stop(t, t.grace())
}

// resized takes the new resources over, with a restart where the spec asks for it.
func (c *container) resized(t turn) bool {
	for _, p := range t.spec.ResizePolicy {
		if p.RestartPolicy == corev1.RestartContainer && differ(c.resources, &t.spec.Resources, p.ResourceName) {
			return c.replaced(t)
		}
	}
	c.resources = t.spec.Resources.DeepCopy()
	return true
}

// stop asks the container to end within the grace period.
func (c *container) stop(t turn, grace time.Duration) bool {
	takes, code := t.stopping(grace)
	c.code = code
	c.until = t.now.Add(takes)
	return c.to(stopping)
}

// ended is the moment of the exit.
func (c *container) ended(t turn, code int32) bool {
	if c.kill != nil && t.restart != corev1.RestartPolicyNever {
		c.replace = true
	}
	c.kill, c.exit = nil, nil
	c.code, c.finished = code, t.now
	c.last = c.terminated()
	c.until = t.now
	if !c.replace {
		c.until = t.now.Add(c.crash(t.host.Timing))
	}
	return c.to(exited)
}

// crash counts exits in a row: the first comes back at once, the next ones after
// a pause that grows.
func (c *container) crash(timing Timing) time.Duration {
	if c.finished.Sub(c.started) > 2*timing.BackOffLimit {
		c.crashes = 0
	}
	c.crashes++
	if c.crashes == 1 {
		return 0
	}
	return pause(timing, c.crashes-2)
}

// revive starts the container again if it may.
func (c *container) revive(t turn) bool {
	if !c.replace && !t.revives(c.code) {
		return false
	}
	if t.now.Before(c.until) {
		c.reason, c.message = "CrashLoopBackOff", "back-off restarting failed container"
		t.wake(c.until)
		return false
	}
	return c.to(pending)
}

// pause is a back-off's length after n tries.
func pause(t Timing, n int) time.Duration {
	return min(t.BackOff<<min(n, 20), cmp.Or(t.BackOffLimit, t.BackOff))
}

func differ(a, b *corev1.ResourceRequirements, name corev1.ResourceName) bool {
	of := func(l corev1.ResourceList) string { q := l[name]; return q.String() }
	return of(a.Requests) != of(b.Requests) || of(a.Limits) != of(b.Limits)
}

func randomID() string {
	var b [32]byte
	for i := range b {
		b[i] = byte(rand.Uint32()) //nolint:gosec // a name, no secret
	}
	return hex.EncodeToString(b[:])
}
