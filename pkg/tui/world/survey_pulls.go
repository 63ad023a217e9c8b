package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// SurveyPulls is an ImagePullJob with the NodeImages of all nodes: one place for each node
// that has been statuses, that the job names, or that it says has failed. How many more it
// wants is in the problems: which they are, only its controller knows.
func SurveyPulls(job *kruise.ImagePullJob, nodes []*kruise.NodeImage) *Distribution {
	out := &Distribution{Ref: of(kruise.KindImagePullJob, job.Namespace, job.Name), Created: job.CreationTimestamp.Time, Target: job.Spec.Image}
	statuses := map[string]kruise.ImageTagStatus{}
	for _, n := range nodes {
		if status, ok := n.TagFor(job.Namespace, job.Name); ok {
			statuses[n.Name] = status
		}
	}
	for _, name := range nodeNames(job, statuses) {
		out.Places = append(out.Places, nodePlace(job, name, statuses))
	}
	for _, p := range out.Places {
		out.Got += p.Got
	}
	out.Wanted = max(int(job.Status.Desired), len(out.Places))
	out.Got = max(out.Got, int(job.Status.Succeeded))
	withHealth(out)
	if more := out.Wanted - len(out.Places); more > 0 && job.Status.CompletionTime == nil {
		out.Problems = append(out.Problems, fmt.Sprintf("%d more, whose turn has not come: %s", more, parallel(job)))
		out.Health = max(out.Health, Progressing)
	}
	if strings.Contains(job.Status.Message, "activeDeadlineSeconds") {
		out.Problems, out.Health = append(out.Problems, job.Status.Message), Blocked
	}
	return out
}

func parallel(job *kruise.ImagePullJob) string {
	switch p := job.Spec.Parallelism; {
	case p == nil:
		return "1 at a time"
	case p.IntValue() == 0:
		return "parallelism 0 is a pause"
	default:
		return p.String() + " at a time"
	}
}

// nodeNames are the nodes that something is known of, sorted.
func nodeNames(job *kruise.ImagePullJob, statuses map[string]kruise.ImageTagStatus) []string {
	names := slices.Clone(job.Status.FailedNodes)
	if s := job.Spec.Selector; s != nil {
		names = append(names, s.Names...)
	}
	for name := range statuses {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func nodePlace(job *kruise.ImagePullJob, node string, statuses map[string]kruise.ImageTagStatus) Place {
	p := Place{Name: node, Wanted: 1, Health: Progressing}
	status, ok := statuses[node]
	switch failed := slices.Contains(job.Status.FailedNodes, node); {
	case status.Phase == kruise.ImagePhaseFailed || failed:
		p.Health, p.Why = Blocked, status.Message
		if p.Why == "" {
			p.Why = "the pull failed: see status of NodeImage " + node
		}
	case status.Phase == kruise.ImagePhaseSucceeded || !ok && job.Status.CompletionTime != nil:
		p.Health, p.Got, p.Ready, p.Updated = Healthy, 1, 1, 1
	case status.Phase == kruise.ImagePhasePulling:
		p.Why = fmt.Sprintf("pulling, %d%%", status.Progress)
	case !ok:
		p.Why = "its turn has not come, or it has no NodeImage"
	default:
		p.Why = "waits for its agent"
	}
	return p
}
