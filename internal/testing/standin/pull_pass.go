package standin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// pullPass is one pass of a job: the NodeImages that it gives the image to now, and
// where it stands.
type pullPass struct {
	job       *kruise.ImagePullJob
	name, tag string
	start     []*kruise.NodeImage
	status    kruise.ImagePullJobStatus
	again     time.Duration
}

// newPull makes a pass; the nodes come in the order of their names.
func newPull(job *kruise.ImagePullJob, nodes []*kruise.NodeImage, now time.Time) (*pullPass, error) {
	name, tag, err := familiar(job.Spec.Image)
	if err != nil {
		return nil, err
	}
	p := &pullPass{job: job, name: name, tag: tag}
	p.status.StartTime = job.Status.StartTime
	if p.status.StartTime == nil {
		p.status.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
	}
	p.status.Desired = int32(len(nodes))
	var idle, busy []*kruise.NodeImage
	for _, n := range nodes {
		switch p.phase(n) {
		case "":
			idle = append(idle, n)
		case kruise.ImagePhaseSucceeded:
			p.status.Succeeded++
		case kruise.ImagePhaseFailed:
			p.failed(n)
		default:
			busy = append(busy, n)
		}
	}
	room := max(p.parallelism()-len(busy), 0)
	for _, n := range idle[:min(room, len(idle))] {
		p.give(n, now)
	}
	p.status.Active = int32(len(busy) + len(p.start))
	p.finish(append(idle, busy...), now)
	return p, nil
}

func (p *pullPass) failed(n *kruise.NodeImage) {
	p.status.Failed++
	p.status.FailedNodes = append(p.status.FailedNodes, n.Name)
}

// familiar is an image as NodeImages name it.
func familiar(image string) (name, tag string, err error) {
	ref, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", "", fmt.Errorf("image %q: %w", image, err)
	}
	if digested, ok := ref.(reference.Digested); ok {
		return reference.FamiliarName(ref), digested.Digest().String(), nil
	}
	tagged, _ := reference.TagNameOnly(ref).(reference.Tagged)
	return reference.FamiliarName(ref), tagged.Tag(), nil
}

// phase is where the job's image stands on a node, empty where it was not requested
// the node for it in the job's name.
func (p *pullPass) phase(n *kruise.NodeImage) kruise.ImagePullPhase {
	for _, t := range n.Spec.Images[p.name].Tags {
		if t.Tag != p.tag || !slices.ContainsFunc(t.OwnerReferences, func(r corev1.ObjectReference) bool { return r.UID == p.job.UID }) {
			continue
		}
		for _, s := range n.Status.ImageStatuses[p.name].Tags {
			if s.Tag == p.tag && s.Version == t.Version {
				return s.Phase
			}
		}
		return kruise.ImagePhaseWaiting
	}
	return ""
}

func (p *pullPass) parallelism() int {
	if p.job.Spec.Parallelism == nil {
		return 1
	}
	return p.job.Spec.Parallelism.IntValue()
}

// give asks a node for the image; a tag that is there already is pulled once more.
func (p *pullPass) give(n *kruise.NodeImage, now time.Time) {
	if n.Spec.Images == nil {
		n.Spec.Images = map[string]kruise.ImageSpec{}
	}
	image := n.Spec.Images[p.name]
	i := slices.IndexFunc(image.Tags, func(t kruise.ImageTagSpec) bool { return t.Tag == p.tag })
	if i < 0 {
		image.Tags = append(image.Tags, kruise.ImageTagSpec{Tag: p.tag})
		i = len(image.Tags) - 1
	}
	t := &image.Tags[i]
	t.Version++
	t.CreatedAt = &metav1.Time{Time: now.Truncate(time.Second)}
	t.PullPolicy = &kruise.ImageTagPullPolicy{
		TimeoutSeconds: p.job.Spec.PullPolicy.TimeoutSeconds, BackoffLimit: p.job.Spec.PullPolicy.BackoffLimit,
		TTLSecondsAfterFinished: new(keptFor(&p.job.Spec)),
		ActiveDeadlineSeconds:   p.job.Spec.CompletionPolicy.ActiveDeadlineSeconds,
	}
	t.ImagePullPolicy = p.job.Spec.ImagePullPolicy
	t.OwnerReferences = append(t.OwnerReferences, corev1.ObjectReference{
		APIVersion: kruise.Group + "/" + kruise.V1beta1, Kind: kruise.KindImagePullJob,
		Namespace: p.job.Namespace, Name: p.job.Name, UID: p.job.UID,
	})
	image.SandboxConfig = p.job.Spec.SandboxConfig
	slices.SortFunc(image.Tags, func(a, b kruise.ImageTagSpec) int { return strings.Compare(a.Tag, b.Tag) })
	n.Spec.Images[p.name] = image
	p.start = append(p.start, n)
}

// keptFor is how many seconds a node keeps the entry of a tag after the pull: Kruise always writes it,
// with a random part that is left out here (docs/kruise/jobs.md#image-pulls; recorded in jobs/045).
func keptFor(job *kruise.ImagePullJobSpec) int32 {
	const day, margin = 24 * 60 * 60, 300
	switch c := job.CompletionPolicy; {
	case c.Type == kruise.NeverCompletionPolicyType:
		return day
	case c.TTLSecondsAfterFinished != nil:
		return *c.TTLSecondsAfterFinished + margin
	case c.ActiveDeadlineSeconds != nil:
		return int32(*c.ActiveDeadlineSeconds) + margin
	default:
		return *job.PullPolicy.TimeoutSeconds**job.PullPolicy.BackoffLimit + margin
	}
}

// finish reports whether the job is over, and its state in words.
func (p *pullPass) finish(unfinished []*kruise.NodeImage, now time.Time) {
	s := &p.status
	ended := s.Succeeded + s.Failed
	s.Message = "job is running, no progress"
	if ended > 0 {
		s.Message = fmt.Sprintf("job is running, progress %.1f%%", 100*float64(ended)/float64(s.Desired))
	}
	if p.job.Spec.CompletionPolicy.Type == kruise.NeverCompletionPolicyType {
		return
	}
	if d := p.job.Spec.CompletionPolicy.ActiveDeadlineSeconds; d != nil && ended < s.Desired {
		left := s.StartTime.Add(time.Duration(*d) * time.Second).Sub(now)
		if left > 0 {
			p.again = left
			return
		}
		for _, n := range unfinished {
			p.failed(n)
		}
		p.start, s.Active, s.Message = nil, 0, "job exceeds activeDeadlineSeconds"
		s.CompletionTime = new(metav1.NewTime(now.Truncate(time.Second)))
		return
	}
	if ended == s.Desired {
		s.Message = "job has completed"
		s.CompletionTime = new(metav1.NewTime(now.Truncate(time.Second)))
	}
}
