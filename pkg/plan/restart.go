package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/imageref"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// CannotRestart says why a container cannot be restarted inside its pod, whatever the
// method: what Kruise's webhook refuses (docs/kruise/jobs.md#containerrecreaterequest). It is empty
// where it can.
func CannotRestart(p *cluster.Pod, container string) string {
	c, ok := p.Container(container)
	switch {
	case !ok:
		return notRegular(p, container)
	case p.Deleting:
		return "the pod is being deleted"
	case !rules.Active(p):
		return "the pod has ended"
	case p.Node == "":
		return "the pod is on no node yet"
	case !c.Reported, c.ImageID == "" && c.Waiting != "":
		return "the container has not been started yet"
	case c.Final:
		return "it would not start again: its restartPolicy is Never"
	}
	return ""
}

// notRegular says what a name stands for that is no regular container.
func notRegular(p *cluster.Pod, name string) string {
	i := slices.IndexFunc(p.InitContainers, func(c cluster.Container) bool { return c.Name == name })
	switch {
	case slices.Contains(p.Ephemeral, name):
		return "it is an ephemeral container: those run once"
	case i < 0:
		return "the pod has no such container"
	case p.InitContainers[i].Native:
		return "it is a native sidecar, an init container: those are not restarted by request"
	}
	return "it is an init container: those run once, when the pod starts"
}

// RestartMethod chooses how the containers of pods are restarted: by Kruise's node
// agent where it is, else by another name of the image where each has one, else by a
// signal. why says so for people.
func RestartMethod(kruise bool, pods []*cluster.Pod, containers []string) (method, why string) {
	if kruise {
		return RestartCRR, "Kruise's node agent does it"
	}
	for _, p := range pods {
		for _, name := range containers {
			c, ok := p.Container(name)
			if !ok {
				continue
			}
			if _, why := imageref.Alias(c.Image, c.StatusImage, c.ImageID); why != "" {
				return RestartSignal, fmt.Sprintf("there is no Kruise, and the image of %s in pod %s has no other name: %s", name, p.Name, why)
			}
		}
	}
	return RestartAlias, "there is no Kruise, and every image has another name"
}
