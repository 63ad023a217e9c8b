package screen

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// Reason reports why a pod is not ready, the cause first; empty for one that is.
func Reason(p *cluster.Pod) string {
	switch {
	case p.Deleting && len(p.Finalizers) > 0:
		return "terminating, held by finalizers: " + strings.Join(p.Finalizers, ", ")
	case p.Deleting, p.IsReady():
		return ""
	}
	if c, ok := p.Condition(string(corev1.PodScheduled)); ok && c.Status == corev1.ConditionFalse {
		return join(cmp.Or(c.Reason, "not scheduled"), c.Message)
	}
	for _, list := range [][]cluster.Container{p.InitContainers, p.Containers} {
		for _, c := range list {
			if c.Waiting != "" {
				return join(waits(p, c), c.Message)
			}
		}
	}
	return unready(p)
}

// waits is what a container waits for: "CrashLoopBackOff (7 restarts): app 2.0.0, ended with Error".
func waits(p *cluster.Pod, c cluster.Container) string {
	text := c.Waiting
	if c.Restarts > 0 {
		text += " (" + counted.Of(c.Restarts, "restart") + ")"
	}
	image, before := diagnose.FailedBefore(p, c)
	text += ": " + c.Name + " " + draw.Tag(image)
	if before {
		text += ", before its update"
	}
	if c.Ended != "" {
		text += ", ended with " + c.Ended
	}
	return text
}

// unready is what a pod says whose containers wait for nothing.
func unready(p *cluster.Pod) string {
	for _, c := range p.Containers {
		switch {
		case !c.Reported:
			return c.Name + " has not started yet"
		case c.StatusImage != "" && c.StatusImage != c.Image:
			return fmt.Sprintf("%s still runs %s, not %s", c.Name, draw.Tag(c.StatusImage), draw.Tag(c.Image))
		case !c.Ready && c.Ended != "":
			return fmt.Sprintf("%s is running, not ready, after %s; ended with %s", c.Name, counted.Of(c.Restarts, "restart"), c.Ended)
		case !c.Ready && c.Restarts > 0:
			return fmt.Sprintf("%s is running, not ready, after %s", c.Name, counted.Of(c.Restarts, "restart"))
		case !c.Ready:
			return c.Name + " is running, not ready"
		}
	}
	if c, ok := p.Condition(string(corev1.PodReady)); ok && c.Message != "" {
		return c.Message
	}
	return "not ready"
}

// Images are the containers of a pod with the tags of their images.
func Images(p *cluster.Pod) string {
	var b strings.Builder
	for i, c := range p.Containers {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Name + " " + draw.Tag(c.Image))
	}
	return b.String()
}

// Restarts is how often containers of a pod were started again.
func Restarts(p *cluster.Pod) int {
	n := 0
	for _, list := range [][]cluster.Container{p.InitContainers, p.Containers} {
		for i := range list {
			n += list[i].Restarts
		}
	}
	return n
}

func join(text, more string) string {
	if more == "" {
		return text
	}
	return text + ": " + more
}

// Container is how far a container is: what waits, what was asked of it and does not
// run yet, or that it is ready and since when.
func Container(now time.Time, p *cluster.Pod, c cluster.Container) (string, draw.Style) {
	restarts := ""
	if c.Restarts > 0 {
		restarts = ", " + counted.Of(c.Restarts, "restart")
	}
	switch {
	case p.Deleting:
		return "terminating", draw.Faint
	case c.Waiting == "ContainerCreating":
		return "starting" + restarts, draw.Busy
	case c.Waiting != "":
		return c.Waiting + restarts, draw.Bad
	case !c.Reported:
		return "not started yet", draw.Busy
	case c.StatusImage != "" && c.StatusImage != c.Image:
		return "still runs " + draw.Tag(c.StatusImage), draw.Busy
	case !c.Ready:
		return "running, not ready" + restarts, draw.Busy
	}
	return "ready " + Age(now, p.ReadySince()) + restarts, draw.Good
}
