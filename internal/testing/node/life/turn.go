package life

import (
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// wake asks for another look at the time given.
func (t turn) wake(at time.Time) {
	if t.result.Wake.IsZero() || at.Before(t.result.Wake) {
		t.result.Wake = at
	}
}

// grace is the pod's grace period.
func (t turn) grace() time.Duration {
	if s := t.pod.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 30 * time.Second
}

// stopping is how long ending takes and with which code: 137 when the grace
// period had to cut it short.
func (t turn) stopping(grace time.Duration) (time.Duration, int32) {
	takes, ok := t.script.duration(stopAnnotation, t.spec.Name)
	if !ok {
		takes = t.host.Timing.Stop
	}
	if l := t.spec.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		takes += time.Duration(l.PreStop.Sleep.Seconds) * time.Second
	}
	if takes > grace {
		return grace, 137
	}
	return takes, 0
}

// fate is when and how the container ends by itself: plain init containers at
// once, others as scripted.
func (t turn) fate(c *container) (at time.Time, code int32, ends bool) {
	if t.role == initial {
		return c.started, 0, true
	}
	if t.role == sidecar {
		return time.Time{}, 0, false
	}
	number, scripted := t.script.number(exitCodeAnnotation, c.name)
	if n, ok := t.script.number(crashStartAnnotation, c.name); ok && c.starts <= n {
		if !scripted {
			number = 1
		}
		return c.started, int32(number), true
	}
	runs, ok := t.script.duration(runAnnotation, c.name)
	return c.started.Add(runs), int32(number), ok || shell(c.image)
}

// shell reports an image that runs a shell unless it is told to run something: it ends
// at once, as there is no terminal. Nothing here reports it.
func shell(image string) bool { return path.Base(repository(image)) == "busybox" }

// revives reports whether a container that ended with the code comes back.
func (t turn) revives(code int32) bool {
	switch t.role {
	case ephemeral:
		return false
	case sidecar:
		return !t.closing
	case initial:
		return code != 0 && t.restart != corev1.RestartPolicyNever
	}
	return t.restart == corev1.RestartPolicyAlways || t.restart == corev1.RestartPolicyOnFailure && code != 0
}

// want is an image that a container cannot start without.
type want struct {
	ref    string
	policy corev1.PullPolicy
}

// wanted is the container's image and those of the image volumes that it mounts:
// one that is not mounted is never pulled.
func wanted(pod *corev1.Pod, spec *corev1.Container) []want {
	out := []want{{spec.Image, spec.ImagePullPolicy}}
	for _, m := range spec.VolumeMounts {
		for _, v := range pod.Spec.Volumes {
			if v.Name == m.Name && v.Image != nil {
				out = append(out, want{v.Image.Reference, v.Image.PullPolicy})
			}
		}
	}
	return out
}
