package kube

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// fillJobs says how far the Jobs have come that pull. An image has been asked for
// when every node has its Job, or somebody goes on creating them.
func (c *Cluster) fillJobs(s *plan.Snapshot, m mark, p *plan.Pull) error {
	w, err := c.present()
	if err != nil || w.workload == nil {
		return err
	}
	at := c.siteOf(m, w.workload)
	nodes, err := at.nodes()
	if err != nil {
		return err
	}
	puller := c.answers.puller(m)
	for _, image := range p.Images {
		state, asked := plan.PullState{Over: !puller.running}, 0
		for _, node := range nodes {
			job, there := c.jobOf(at, image, node)
			if !there {
				if puller.failed != "" {
					state.Troubles = append(state.Troubles, plan.PullTrouble{Node: node, Why: puller.failed, Final: true})
				}
				continue
			}
			asked++
			if t, done := c.jobState(job, node, image); t != nil {
				state.Troubles, state.Over = append(state.Troubles, *t), state.Over && done
			} else if done {
				s.Pulled[image]++
			} else {
				state.Over = false
			}
		}
		s.Pulling[image] = puller.running || puller.failed != "" || asked == len(nodes)
		s.Pulls[image] = state
	}
	return nil
}

// jobState is what became of one Job: the trouble that it has, and whether it is over.
func (c *Cluster) jobState(job *batchv1.Job, node, image string) (t *plan.PullTrouble, done bool) {
	if end, ok := ended(job); ok {
		if end.Type == batchv1.JobComplete {
			return nil, true
		}
		return &plan.PullTrouble{Node: node, Why: failure(end), Final: true, Since: end.LastTransitionTime.Time}, true
	}
	pods := c.jobPods.shown()
	if pods == nil {
		return nil, false
	}
	list, _ := pods.all()
	i := slices.IndexFunc(list, func(p *corev1.Pod) bool { return p.Labels[batchv1.JobNameLabel] == job.Name })
	if i < 0 {
		return nil, false
	}
	if why := pullError(list[i], image); why != "" {
		return &plan.PullTrouble{Node: node, Why: why, Since: list[i].CreationTimestamp.Time}, false
	}
	return nil, false
}

// pullErrors are reasons for which a container waits whose image does not come.
var pullErrors = []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable", "InvalidImageName"}

// pullError is why a pod's image does not come; empty while it may.
func pullError(p *corev1.Pod, image string) string {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, s := range list {
			w := s.State.Waiting
			if w == nil || !slices.Contains(pullErrors, w.Reason) {
				continue
			}
			if s.Image != image && !strings.Contains(w.Message, image) && !hasVolume(p, image) {
				return w.Reason + " for the helper image " + s.Image
			}
			return strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
	}
	return ""
}

func hasVolume(p *corev1.Pod, image string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Image != nil && v.Image.Reference == image })
}
