package show

import (
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Container is how far a container is: what waits, what was asked of it and does not
// run yet, or that it is ready and since when.
func Container(now time.Time, p *cluster.Pod, c cluster.Container) (string, theme.Style) {
	restarts := ""
	if c.Restarts > 0 {
		restarts = ", " + Count(c.Restarts, "restart")
	}
	switch {
	case p.Deleting:
		return "terminating", theme.Faint
	case c.Waiting == "ContainerCreating":
		return "starting" + restarts, theme.Busy
	case c.Waiting != "":
		return c.Waiting + restarts, theme.Bad
	case !c.Reported:
		return "not started yet", theme.Busy
	case c.StatusImage != "" && c.StatusImage != c.Image:
		return "still runs " + Tag(c.StatusImage), theme.Busy
	case !c.Ready:
		return "running, not ready" + restarts, theme.Busy
	}
	return "ready " + Age(now, p.ReadySince()) + restarts, theme.Good
}

// Tag is what tells images of one repository apart.
func Tag(image string) string {
	if _, digest, ok := strings.Cut(image, "@sha256:"); ok {
		return digest[:min(len(digest), 12)]
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if _, tag, ok := strings.Cut(name, ":"); ok {
		return tag
	}
	return name
}

// Digest is the part of an image ID that people compare; what is no digest stays whole.
func Digest(id string) string {
	if _, digest, ok := strings.Cut(id, "sha256:"); ok {
		return digest[:min(len(digest), 12)]
	}
	return id
}
