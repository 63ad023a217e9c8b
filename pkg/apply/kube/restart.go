package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// restarter restarts containers in place, by the method that fits the cluster.
type restarter struct {
	*stepObjects
	writer *writer
}

// restart restarts containers inside one pod, once for each step, however often it is
// asked for.
func (rs *restarter) restart(ctx context.Context, r *plan.Restart) error {
	m, w, err := rs.currentStep()
	if err != nil {
		return err
	}
	p, ok := rs.observer.pods.get(r.Namespace, r.Name)
	if !ok || p.UID != r.UID {
		return fmt.Errorf("pod %s: %w", r.Name, plan.ErrNotFound)
	}
	for _, name := range r.Containers {
		if why := plan.CannotRestart(p.Pod, name); why != "" {
			return fmt.Errorf("pod %s: container %s cannot be restarted: %s", p.Name, name, why)
		}
	}
	method, err := rs.method(p.Pod, r)
	if err != nil {
		return err
	}
	switch method {
	case plan.RestartCRR:
		return rs.restartByRequest(ctx, m, w, p, r)
	case plan.RestartAlias:
		return rs.restartByAlias(ctx, m, p, r)
	case plan.RestartSignal:
		return rs.restartBySignal(ctx, m, p, r)
	}
	return fmt.Errorf("no method of restarting is called %q", method)
}

// method is the requested method, or the one that the cluster supports. A pod
// whose restart was begun with one is continued with the same.
func (rs *restarter) method(p *cluster.Pod, r *plan.Restart) (string, error) {
	if r.Method != "" && r.Method != plan.RestartCRR {
		return r.Method, nil
	}
	_, err := rs.lazy.recreations.start()
	served := !errors.Is(err, errNotServed)
	switch {
	case err != nil && served:
		return "", err
	case r.Method != "" && !served:
		return "", errors.New("the method crr needs Kruise, whose ContainerRecreateRequest is not served here")
	case r.Method != "":
		return r.Method, nil
	}
	method, _ := plan.RestartMethod(served, []*cluster.Pod{p}, r.Containers)
	return method, nil
}

// restartByRequest asks Kruise's node agent (docs/kruise/jobs.md#containerrecreaterequest). One request
// holds all containers of the pod: the agent stops them one after the other.
func (rs *restarter) restartByRequest(ctx context.Context, m stepID, w *cluster.Workload, p observedPod, r *plan.Restart) error {
	requests, err := rs.lazy.recreations.start()
	if err != nil {
		return err
	}
	meta := rs.requestMeta(m, w, p.Pod)
	if _, there := requests.get(meta.Namespace, meta.Name); there {
		return nil
	}
	return rs.lazy.recreations.create(ctx, kruise.KindContainerRecreateRequest, meta, rs.requestSpec(p.Pod, r))
}

const (
	// requestTTLSeconds is for how many seconds a finished request is kept: a rollout that is
	// resumed within a day knows what was restarted.
	requestTTLSeconds = 24 * 60 * 60
	// defaultRestartTimeout ends a request without progress, which would block the next.
	defaultRestartTimeout = 30 * time.Minute
)

func (rs *restarter) requestMeta(m stepID, w *cluster.Workload, p *cluster.Pod) metav1.ObjectMeta {
	meta := rs.meta(m, rs.ownersOf(w), m.objectName(p.Name+"-restart", p.UID))
	if meta.Namespace = p.Namespace; w.Namespace != p.Namespace && w.Namespace != "" {
		meta.OwnerReferences = nil // owners are in the same namespace
	}
	return meta
}

func (rs *restarter) requestSpec(p *cluster.Pod, r *plan.Restart) *kruise.ContainerRecreateRequestSpec {
	spec := &kruise.ContainerRecreateRequestSpec{
		PodName:                 p.Name,
		Strategy:                requestStrategy(r.RestartStrategy),
		ActiveDeadlineSeconds:   new(int64(rs.stepTimeout().Seconds())),
		TTLSecondsAfterFinished: new(int32(requestTTLSeconds)),
	}
	for _, name := range r.Containers {
		spec.Containers = append(spec.Containers, kruise.ContainerRecreateRequestContainer{Name: name})
	}
	return spec
}

func requestStrategy(s plan.RestartStrategy) *kruise.ContainerRecreateRequestStrategy {
	out := &kruise.ContainerRecreateRequestStrategy{FailurePolicy: kruise.ContainerRecreateFail, OrderedRecreate: s.Ordered}
	if s.Unready > 0 {
		out.UnreadyGracePeriodSeconds = new(int64(time.Duration(s.Unready).Seconds()))
	}
	return out
}

// stepTimeout is how long the present step may take.
func (rs *restarter) stepTimeout() time.Duration {
	if rec, err := rs.record.current(); err == nil {
		if step := rec.Present(); step != nil && step.Timeout > 0 {
			return time.Duration(step.Timeout)
		}
	}
	return defaultRestartTimeout
}

// restartByAlias changes the images of containers to other names of the same: the
// kubelet starts them again, with the same content (docs/facts/kubelet.md#restart-by-alias). What
// was done is written on the pod in the same request.
func (rs *restarter) restartByAlias(ctx context.Context, m stepID, p observedPod, r *plan.Restart) error {
	if a, ok := restartNoteOf(p.Pod); ok && a.Step == m {
		return nil
	}
	containers, err := imageAliases(p.Pod, r)
	if err != nil {
		return err
	}
	a := newRestartNote(m, p, plan.RestartAlias, r.Containers)
	a.Sent = true
	return rs.writeNote(ctx, p, a, containers)
}

// imageAliases are the containers to restart, as a patch names their images.
func imageAliases(p *cluster.Pod, r *plan.Restart) ([]any, error) {
	var out []any
	for _, name := range r.Containers {
		has, _ := p.Container(name)
		next, why := kruise.ImageAlias(has.Image, has.StatusImage, has.ImageID)
		if next == "" {
			return nil, fmt.Errorf("pod %s: container %s cannot be restarted by another name of its image: %s", p.Name, name, why)
		}
		out = append(out, map[string]any{"name": name, "image": next})
	}
	return out, nil
}

// writeNote writes the requested restart on a pod. The pod must be unchanged: the numbers of
// restarts in the note say later whether its containers have restarted since.
func (rs *restarter) writeNote(ctx context.Context, p observedPod, a restartNote, containers []any) error {
	body := map[string]any{"metadata": map[string]any{
		"uid": p.UID, "resourceVersion": p.version,
		"annotations": map[string]any{restartAnnotation: a.text()},
	}}
	if containers != nil {
		body["spec"] = map[string]any{"containers": containers}
	}
	return rs.writer.sendPod(ctx, plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, plan.Patch{Body: body})
}

// restartAnnotation is on pods whose containers were restarted without Kruise: other
// processes read there what was requested.
const restartAnnotation = "kubectl-kruise.dev/restart"

// restartNote is what the annotation holds.
type restartNote struct {
	Step   stepID `json:"step"`
	Method string `json:"method"`
	// Before is how often each container had restarted.
	Before map[string]int `json:"before"`
	// Sent is false while it is not certain that all of it was done.
	Sent bool `json:"sent"`
}

func newRestartNote(m stepID, p observedPod, method string, containers []string) restartNote {
	a := restartNote{Step: m, Method: method, Before: map[string]int{}}
	for _, name := range containers {
		c, _ := p.Container(name)
		a.Before[name] = c.Restarts
	}
	return a
}

// restartNoteOf reads the last requested restart.
func restartNoteOf(p *cluster.Pod) (restartNote, bool) {
	text, ok := p.Annotations[restartAnnotation]
	if !ok {
		return restartNote{}, false
	}
	var a restartNote
	err := json.Unmarshal([]byte(text), &a)
	return a, err == nil
}

func (a restartNote) text() string {
	text, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(text)
}

// fillResults adds the results of the restarts of the present step, as the cluster shows
// them: in ContainerRecreateRequests, and in notes on pods.
func (rs *restarter) fillResults(s *plan.Snapshot, m stepID, step *plan.Step) error {
	answer := func(pod string, r plan.Result) {
		if s.Verified == nil {
			s.Verified = map[string]plan.Result{}
		}
		s.Verified[plan.RestartKey(step.Name, pod)] = r
	}
	for _, p := range s.Pods {
		if a, ok := restartNoteOf(p); ok && a.Step == m && a.Sent {
			answer(p.Name, a.result(p))
		}
	}
	requests := rs.lazy.recreations.ifStarted()
	if requests == nil {
		return nil
	}
	list, err := requests.list()
	for _, request := range list {
		if request.Labels[stepLabel] == string(m) {
			answer(request.Spec.PodName, resultOfRequest(request))
		}
	}
	return err
}

// result is good when every container has restarted and is ready.
func (a restartNote) result(p *cluster.Pod) plan.Result {
	var open []string
	for _, name := range slices.Sorted(maps.Keys(a.Before)) {
		c, ok := p.Container(name)
		switch {
		case !ok:
		case c.Restarts <= a.Before[name]:
			open = append(open, fmt.Sprintf("container %s has not restarted yet%s", name, a.hint()))
		case !c.Ready:
			open = append(open, fmt.Sprintf("container %s is not ready yet", name))
		}
	}
	if len(open) > 0 {
		return plan.Result{Text: strings.Join(open, ", ")}
	}
	return plan.Result{Done: true, Good: true, Text: "restarted"}
}

// hint reports why a container may never restart.
func (a restartNote) hint() string {
	if a.Method == plan.RestartSignal {
		return " (its first process may not handle TERM)"
	}
	return ""
}

// resultOfRequest is the result of a request: its phase says only whether it is over, and each
// container has a result of its own.
func resultOfRequest(r *kruise.ContainerRecreateRequest) plan.Result {
	var open, bad []string
	for _, named := range r.Spec.Containers {
		state := kruise.ContainerRecreateRequestContainerRecreateState{Name: named.Name, Phase: kruise.ContainerRecreateRequestPending}
		for _, s := range r.Status.ContainerRecreateStates {
			if s.Name == named.Name {
				state = s
			}
		}
		text := strings.TrimSuffix("container "+state.Name+" "+strings.ToLower(string(state.Phase))+": "+state.Message, ": ")
		switch state.Phase {
		case kruise.ContainerRecreateRequestSucceeded:
		case kruise.ContainerRecreateRequestFailed:
			bad = append(bad, text)
		default:
			open = append(open, text)
		}
	}
	all := slices.Concat(bad, open)
	if r.Status.Phase != kruise.ContainerRecreateRequestCompleted {
		return plan.Result{Text: strings.Join(all, ", ")}
	}
	if r.Status.Message != "" {
		all = append([]string{r.Status.Message}, all...)
	}
	out := plan.Result{Done: true, Good: len(all) == 0, Text: strings.Join(all, "; ")}
	if r.Status.CompletionTime != nil {
		out.At = r.Status.CompletionTime.Time
	}
	return out
}

// requests restart containers of a pod by the method that fits.
func (rs *restarter) requests(s plan.Snapshot, r *plan.Restart) ([]event.Request, error) {
	p, err := podInSnapshot(s, r.PodRef)
	if err != nil {
		return nil, err
	}
	method, err := rs.method(p, r)
	if err != nil {
		return nil, err
	}
	switch method {
	case plan.RestartCRR:
		m, w, err := rs.currentStep()
		if err != nil {
			return nil, err
		}
		return kruiseRequest(rs.lazy.recreations, kruise.KindContainerRecreateRequest, withGeneratedName(rs.requestMeta(m, w, p), p.Name+"-restart-"), rs.requestSpec(p, r))
	case plan.RestartAlias:
		containers, err := imageAliases(p, r)
		body := map[string]any{"metadata": map[string]any{"uid": p.UID}, "spec": map[string]any{"containers": containers}}
		return []event.Request{podPatchRequest(r.PodRef, "", body)}, err
	}
	var out []event.Request
	for _, name := range r.Containers {
		ask := url.Values{"container": {name}, "command": {"kill", "1"}}
		out = append(out, event.Request{Method: http.MethodPost, Path: podPath(r.PodRef, "exec") + "?" + ask.Encode()})
	}
	return out, nil
}
