package kube

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// eventReporter is the reporting controller of the Events.
const eventReporter = "kubectl-kruise.dev/rollout"

// flushTimeout is how long Close waits for Events that are still to be written.
const flushTimeout = 2 * time.Second

// announcer writes Events on the workload, one after the other, and never delays the
// rollout: Events that fail are dropped, and so are those beyond the queue.
type announcer struct {
	*connection
	observer *observer

	queue chan *eventsv1.Event
	over  chan struct{}
	once  sync.Once
	steps int
}

func (a *announcer) start() {
	a.queue, a.over = make(chan *eventsv1.Event, 32), make(chan struct{})
	go func() {
		defer close(a.over)
		for e := range a.queue {
			a.write(e)
		}
	}()
}

func (a *announcer) write(e *eventsv1.Event) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), requestTimeout)
	defer cancel()
	_, _ = a.core.EventsV1().Events(e.Namespace).Create(ctx, e, metav1.CreateOptions{FieldManager: FieldManager}) // best effort
}

// stop waits until the queued Events are written; it may be called again.
func (a *announcer) stop() { a.once.Do(a.flush) }

func (a *announcer) flush() {
	if a.queue == nil {
		return // it was never started
	}
	close(a.queue)
	late := time.NewTimer(flushTimeout)
	defer late.Stop()
	select {
	case <-a.over:
	case <-late.C:
	}
}

// Announce writes what a rollout reports as a Kubernetes Event on the workload: each step,
// and how it ended. It never waits. It is called by one goroutine, and not after Close.
func (c *Cluster) Announce(e event.Event) { c.announcer.announce(e) }

func (a *announcer) announce(e event.Event) {
	if e.Plan != nil {
		a.steps = len(e.Plan.Steps)
	}
	n, ok := eventNoteOf(e, a.steps)
	present, err := a.observer.current()
	if !ok || err != nil || present.workload == nil {
		return
	}
	o := a.changedObject()
	namespace := o.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	now := a.Now()
	select {
	case a.queue <- &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: o.Name + "." + strconv.FormatInt(now.UnixNano(), 16)},
		EventTime:  metav1.NewMicroTime(now), ReportingController: eventReporter, ReportingInstance: truncate(a.opt.Holder, 128),
		Action: "Rollout", Type: n.kind, Reason: n.reason, Note: truncate(n.note, 1024),
		Regarding: corev1.ObjectReference{
			APIVersion: o.Resource.GroupVersion().String(), Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: uidOf(present.workload),
		},
	}:
	default:
	}
}

// eventNote is the content of an Event.
type eventNote struct{ kind, reason, note string }

// eventNoteOf is the text of an Event about something that was reported; ok is false for what is
// not worth one.
func eventNoteOf(e event.Event, steps int) (n eventNote, ok bool) {
	switch e.Type {
	case event.StepDone:
		// The end says that the last one is done.
		return eventNote{corev1.EventTypeNormal, "RolloutStep", fmt.Sprintf("step %d of %d is done: %s", e.Step+1, steps, e.Text)}, e.Step+1 < steps
	case event.RollingBack:
		return eventNote{corev1.EventTypeWarning, "RolloutRollsBack", "goes back: " + e.Text}, true
	case event.Ended:
		n, ok = outcomeNotes[e.Outcome]
		if e.Text != "" {
			n.note += ": " + e.Text
		}
		return n, ok
	}
	return n, false
}

// outcomeNotes are the Events about the end.
var outcomeNotes = map[event.Outcome]eventNote{
	event.Completed:  {corev1.EventTypeNormal, "RolloutCompleted", "all steps are done"},
	event.RolledBack: {corev1.EventTypeWarning, "RolloutRolledBack", "the way back is done"},
	event.Failed:     {corev1.EventTypeWarning, "RolloutHalted", "failed"},
}

// truncate shortens a text to a number of bytes, at the end of a rune.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
