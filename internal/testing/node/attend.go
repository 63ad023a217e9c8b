package node

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
)

// retry is the pause after a request that failed.
const retry = 200 * time.Millisecond

// attend gives one pod its turn: step, tell the API server, and note when to come
// back.
func (p *Pool) attend(ctx context.Context, key types.NamespacedName) {
	pod := p.pod(key)
	if pod == nil {
		p.forget(key)
		return
	}
	if p.isFrozen(key.Namespace) {
		return
	}
	host := p.host(pod.Spec.NodeName)
	if host == nil || p.isLost(host) {
		return
	}
	t := p.track(key, pod)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.awaits(pod) {
		return
	}
	now := time.Now()
	r := t.pod.Step(now, pod, &host.Host)
	if begins(pod, &r, now) {
		p.queue.AddAfter(key, max(0, r.Wake.Sub(now)))
		return
	}
	if err := p.tell(ctx, t, pod, r); err != nil && !apierrors.IsNotFound(err) {
		p.queue.AddAfter(key, retry)
		return
	}
	if !r.Wake.IsZero() {
		p.queue.AddAfter(key, max(0, r.Wake.Sub(now)))
	}
}

// begins reports whether nothing has happened to a new pod yet and something is about to: that it waits for a moment is
// told to no one, which saves a write for every pod.
func begins(pod *corev1.Pod, r *life.Result, now time.Time) bool {
	isNew := len(pod.Status.ContainerStatuses)+len(pod.Status.InitContainerStatuses) == 0
	return isNew && len(r.Events) == 0 && !r.Gone && !r.Wake.IsZero() && r.Wake.Sub(now) <= moment
}

// moment is longer than a container takes to start where nothing is to take long.
const moment = 100 * time.Millisecond

// awaits reports whether the pod, as the cache has it, is older than what was written last.
// The watch brings that version, and with it the pod's next turn.
func (t *tracked) awaits(pod *corev1.Pod) bool {
	if t.written == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(pod.ResourceVersion, t.written)
	return err == nil && order < 0
}

// tell writes what follows from a turn.
func (p *Pool) tell(ctx context.Context, t *tracked, pod *corev1.Pod, r life.Result) error {
	for _, e := range r.Events {
		p.warn(ctx, pod, e)
	}
	if err := p.write(ctx, t, pod, &r.Status); err != nil || !r.Gone {
		return err
	}
	return p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      &metav1.Preconditions{UID: &pod.UID},
	})
}

// write sends the status that a turn has left, if it is another one: the whole status, for the
// version that it was made from, because the API server would apply a patch as JSON. When the
// pod has changed meanwhile, only what the turn changed is sent.
func (p *Pool) write(ctx context.Context, t *tracked, pod *corev1.Pod, status *corev1.PodStatus) error {
	before, err := pod.Status.Marshal()
	if err != nil {
		return err
	}
	// As sent, times have no fractions of seconds.
	after, err := status.Marshal()
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	changed := *pod
	changed.Status = *status
	now, err := p.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		now, err = p.patch(ctx, pod, status)
	}
	if err == nil {
		t.written = now.ResourceVersion
	}
	return err
}

// patch sends what changed in the status, as the kubelet does, so that conditions
// of others are not touched.
func (p *Pool) patch(ctx context.Context, pod *corev1.Pod, status *corev1.PodStatus) (*corev1.Pod, error) {
	before, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: *status})
	if err != nil {
		return nil, err
	}
	change, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
	if err != nil {
		return nil, err
	}
	return p.client.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.StrategicMergePatchType, change, metav1.PatchOptions{}, "status")
}

// warn records an event. One that cannot be written is no loss.
func (p *Pool) warn(ctx context.Context, pod *corev1.Pod, e life.Event) {
	now := metav1.Now()
	_, _ = p.client.CoreV1().Events(pod.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		},
		Reason: e.Reason, Message: e.Message, Type: corev1.EventTypeWarning, Count: 1,
		Source:         corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		FirstTimestamp: now, LastTimestamp: now,
	}, metav1.CreateOptions{})
}

// track finds the life of a pod. Another pod of the same name has another life.
func (p *Pool) track(key types.NamespacedName, pod *corev1.Pod) *tracked {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.lives[key]
	if t == nil || t.pod.UID != pod.UID {
		t = &tracked{pod: life.New(pod, p.addresses.next())}
		p.lives[key] = t
	}
	return t
}

func (p *Pool) forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lives, key)
}

// with runs a function on a pod's life, if there is one, and then its turn.
func (p *Pool) with(key types.NamespacedName, do func(*life.Pod) bool) bool {
	p.mu.Lock()
	t := p.lives[key]
	p.mu.Unlock()
	if t == nil {
		return false
	}
	t.mu.Lock()
	done := do(t.pod)
	t.mu.Unlock()
	p.queue.Add(key)
	return done
}

// Exit ends a container's process with the code, as a crash does. It reports
// whether the container ran.
func (p *Pool) Exit(namespace, pod, container string, code int32) bool {
	return p.with(types.NamespacedName{Namespace: namespace, Name: pod}, func(l *life.Pod) bool {
		return l.Exit(container, code)
	})
}

// pause waits before a request is sent again.
func (p *Pool) pause(ctx context.Context) {
	timer := time.NewTimer(retry)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Restart stops a container as the node's daemon does, to be started again by the
// pod's restart policy. It reports whether the container ran.
func (p *Pool) Restart(namespace, pod, container string, grace time.Duration) bool {
	return p.with(types.NamespacedName{Namespace: namespace, Name: pod}, func(l *life.Pod) bool {
		return l.Restart(container, grace)
	})
}
