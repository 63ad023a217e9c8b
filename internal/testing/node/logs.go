package node

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
)

// logs tells what a container would have said: one line at its start, the line of
// its script, one at its end.
func (e *endpoint) logs(w http.ResponseWriter, r *http.Request) {
	pod, status, err := e.target(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	q := r.URL.Query()
	lines := logLines(pod, status, q.Get("previous") == "true")
	if n, err := strconv.Atoi(q.Get("tailLines")); err == nil {
		lines = lines[max(0, len(lines)-n):]
	}
	w.Header().Set("Content-Type", "text/plain")
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, line)
	}
	if q.Get("follow") != "true" || status.State.Running == nil {
		return
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	e.until(r.Context(), r, status.ContainerID)
}

func logLines(pod *corev1.Pod, s *corev1.ContainerStatus, previous bool) []string {
	state, restarts := s.State, s.RestartCount
	if previous {
		state, restarts = s.LastTerminationState, restarts-1
	}
	var started time.Time
	switch {
	case state.Running != nil:
		started = state.Running.StartedAt.Time
	case state.Terminated != nil:
		started = state.Terminated.StartedAt.Time
	default:
		return nil
	}
	out := []string{fmt.Sprintf("%s %s: %s started, image %s, restarts %d",
		started.UTC().Format(time.RFC3339), pod.Name, s.Name, s.Image, restarts)}
	if line := pod.Annotations[life.LogAnnotation]; line != "" {
		out = append(out, line)
	}
	if end := state.Terminated; end != nil {
		out = append(out, fmt.Sprintf("%s %s: %s exited with %d",
			end.FinishedAt.UTC().Format(time.RFC3339), pod.Name, s.Name, end.ExitCode))
	}
	return out
}
