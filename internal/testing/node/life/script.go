package life

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations with which a pod scripts its own fate. A value is for all regular
// containers ("3s") or for some by name ("app=3s,log=1s").
const (
	// runAnnotation is how long a container runs before it exits, a duration.
	runAnnotation = "lab.test/run"
	// exitCodeAnnotation is the code it then, or at a scripted crash, exits with.
	exitCodeAnnotation = "lab.test/exit-code"
	// UnreadyAnnotation names containers that run but are never ready, or their images; "*" for all.
	UnreadyAnnotation = "lab.test/unready"
	// ReadyDelayAnnotation is how long after its start a container is ready.
	ReadyDelayAnnotation = "lab.test/ready-delay"
	// crashStartAnnotation is how many of a container's starts end in a crash.
	crashStartAnnotation = "lab.test/crash-start"
	// pullAnnotation is how long pulling an absent image takes.
	pullAnnotation = "lab.test/pull"
	// stopAnnotation is how long a container takes to end when asked to.
	stopAnnotation = "lab.test/stop"
	// KillFailsAnnotation names containers that the daemon fails to stop.
	KillFailsAnnotation = "lab.test/kill-fails"
	// LogAnnotation is a line that a container logs at each start.
	LogAnnotation = "lab.test/log"
)

// script reads a pod's annotations. Values that make no sense count as absent.
type script map[string]string

// value is the annotation's word on one container.
func (s script) value(key, container string) (string, bool) {
	text, ok := s[key]
	if !ok || !strings.Contains(text, "=") {
		return text, ok
	}
	for part := range strings.SplitSeq(text, ",") {
		if name, v, _ := strings.Cut(strings.TrimSpace(part), "="); name == container {
			return v, true
		}
	}
	return "", false
}

func (s script) duration(key, container string) (time.Duration, bool) {
	text, ok := s.value(key, container)
	d, err := time.ParseDuration(text)
	return d, ok && err == nil
}

func (s script) number(key, container string) (int, bool) {
	text, ok := s.value(key, container)
	n, err := strconv.Atoi(text)
	return n, ok && err == nil
}

// names reports whether the annotation lists the container.
func (s script) names(key, container string) bool {
	return slices.ContainsFunc(strings.Split(s[key], ","), func(n string) bool {
		n = strings.TrimSpace(n)
		return n == "*" || n == container
	})
}

// KillFails reports whether the daemon's stop of the container is scripted to fail.
func KillFails(pod *corev1.Pod, container string) bool {
	return script(pod.Annotations).names(KillFailsAnnotation, container)
}
