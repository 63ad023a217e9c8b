package demo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

//go:embed distributions.yaml
var manifests string

// distributions are the objects of the shop that become something in several places. Only the
// WorkloadSpread has a controller; the others are not part of the simulated cluster.
type distributions struct {
	spread kruise.WorkloadSpread
	united kruise.UnitedDeployment
	secret kruise.ResourceDistribution
	warm   kruise.ImagePullJob
}

// start reads the objects, and applies the WorkloadSpread.
func (d *distributions) start(w *simulate.World) error {
	into := []any{&d.spread, &d.united, &d.secret, &d.warm}
	for i, doc := range strings.Split(manifests, "\n---\n") {
		n, err := yaml.Parse(doc)
		if err != nil {
			return err
		}
		if _, err := kruise.Decode(n.YNode(), into[i]); err != nil {
			return err
		}
		if i == 0 {
			if err := w.Apply(n.YNode()); err != nil {
				return err
			}
		}
	}
	return nil
}

// distributed surveys the distributions of the namespace that is shown.
func (c *Cluster) distributed() *world.Distributions {
	search := c.details[of(kruise.KindCloneSet, "shop", "search")]
	list := c.distributions.survey(search, c.world.Now().Sub(c.start))
	for i, f := range list {
		f.Created = c.start.Add(-time.Duration(i+1) * 53 * time.Hour)
	}
	return world.SurveyDistributions(slices.DeleteFunc(list, func(f *world.Distribution) bool { return f.Namespace != "" && !c.seen(f.Ref) })...)
}

// survey finds the state of each distribution, some time after the shop was opened. Search is
// the target of the WorkloadSpread.
func (d *distributions) survey(search *world.Detail, after time.Duration) []*world.Distribution {
	target := tree.FromValue(map[string]any{"kind": search.Ref.Kind, "spec": map[string]any{"replicas": search.Pods.Desired}})
	workloads, pods := recommend()
	spaces := map[string]labels.Set{}
	for _, name := range []string{"default", "shop", "pay", "ops"} {
		spaces[name] = labels.Set{}
	}
	return []*world.Distribution{
		world.SurveySpread(&d.spread, target, search.Snapshot.Pods, search.Updated), world.SurveyUnited(&d.united, workloads, pods),
		world.SurveyCopies(&d.secret, spaces), world.SurveyPulls(pulling(d.warm, after)),
	}
}

// recommend returns the subsets of the UnitedDeployment and their pods: those of the subset
// spot have no room on the nodes.
func recommend() (workloads []*tree.Node, pods []*cluster.Pod) {
	for subset, n := range map[string]int{"reserved": 6, "on-demand": 4, "spot": 2} {
		set := map[string]any{kruise.SubsetNameLabel: subset}
		workloads = append(workloads, tree.FromValue(map[string]any{
			"metadata": map[string]any{"labels": set}, "spec": map[string]any{"replicas": n}, "status": map[string]any{"readyReplicas": n},
		}))
		for i := range n {
			pods = append(pods, recommender(subset, i))
		}
	}
	return workloads, pods
}

func recommender(subset string, i int) *cluster.Pod {
	p := &cluster.Pod{
		Namespace: "shop", Name: fmt.Sprintf("recommend-%s-%d", subset, i), Node: fmt.Sprintf("node-%d", i+1), Phase: corev1.PodRunning,
		Labels:     map[string]string{kruise.SubsetNameLabel: subset, kruise.ControllerRevisionHashLabel: "recommend-9b2d"},
		Conditions: []cluster.Condition{{Type: string(corev1.PodReady), Status: corev1.ConditionTrue}},
	}
	if subset == "on-demand" {
		p.Labels[kruise.ControllerRevisionHashLabel] = "recommend-5f7c"
	}
	if subset == "spot" {
		p.Node, p.Phase = "", corev1.PodPending
		p.Conditions = []cluster.Condition{{
			Type: string(corev1.PodScheduled), Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/12 nodes are available: 12 node(s) didn't match Pod's node affinity/selector.",
		}}
	}
	return p
}

// pullTime is how long a node pulls the image of the ImagePullJob; fullNode has no room for it.
const (
	pullTime = 20 * time.Second
	fullNode = 7
)

// pulling is the ImagePullJob and its nodes, some time after its start: three nodes at a time.
func pulling(job kruise.ImagePullJob, after time.Duration) (*kruise.ImagePullJob, []*kruise.NodeImage) {
	job.Status.Desired = nodes
	var list []*kruise.NodeImage
	for i := range nodes {
		pulled := after - time.Duration(i/3)*pullTime
		if pulled < 0 {
			break
		}
		list = append(list, pull(&job, i+1, pulled))
	}
	slices.SortFunc(list, func(a, b *kruise.NodeImage) int { return strings.Compare(a.Name, b.Name) })
	return &job, list
}

// pull is one node, some time after its pull started.
func pull(job *kruise.ImagePullJob, i int, pulled time.Duration) *kruise.NodeImage {
	n := &kruise.NodeImage{}
	n.Name = fmt.Sprintf("node-%d", i)
	tag := kruise.ImageTagStatus{Tag: "13", Phase: kruise.ImagePhasePulling, Progress: int32(100 * pulled / pullTime)}
	switch {
	case pulled >= pullTime && i == fullNode:
		tag.Phase, tag.Message = kruise.ImagePhaseFailed, "write /var/lib/containerd: no space left on device"
		job.Status.FailedNodes = append(job.Status.FailedNodes, n.Name)
	case pulled >= pullTime:
		tag.Phase = kruise.ImagePhaseSucceeded
		job.Status.Succeeded++
	}
	asked := []corev1.ObjectReference{{Namespace: job.Namespace, Name: job.Name}}
	n.Spec.Images = map[string]kruise.ImageSpec{"search": {Tags: []kruise.ImageTagSpec{{Tag: tag.Tag, OwnerReferences: asked}}}}
	n.Status.ImageStatuses = map[string]kruise.ImageStatus{"search": {Tags: []kruise.ImageTagStatus{tag}}}
	return n
}

// sidecars surveys the SidecarSets and the workloads that are shown.
func (c *Cluster) sidecars() *world.Sidecars {
	owners := map[string]cluster.Ref{}
	var sets []diagnose.Question
	for _, ref := range c.refs {
		if q, ok := c.sets[ref]; ok {
			q.Snapshot.Pods = slices.DeleteFunc(slices.Clone(q.Snapshot.Pods), func(p *cluster.Pod) bool { return c.space != "" && p.Namespace != c.space })
			sets = append(sets, q)
			continue
		}
		for _, p := range c.details[ref].Snapshot.Pods {
			owners[p.UID] = ref
		}
	}
	return world.SurveySidecars(sets, func(p *cluster.Pod) cluster.Ref { return owners[p.UID] })
}
