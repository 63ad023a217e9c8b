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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/survey"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

//go:embed fanouts.yaml
var fanouts string

// fans are what the shop fans out. Only the WorkloadSpread is played by a controller;
// the others stand beside the simulated cluster, and are the same in every shop.
type fans struct {
	spread kruise.WorkloadSpread
	united kruise.UnitedDeployment
	secret kruise.ResourceDistribution
	warm   kruise.ImagePullJob
}

// spread reads what is fanned out, and has the controller of the WorkloadSpread begin.
func (c *Cluster) spread() error {
	into := []any{&c.fans.spread, &c.fans.united, &c.fans.secret, &c.fans.warm}
	for i, doc := range strings.Split(fanouts, "\n---\n") {
		n, err := yaml.Parse(doc)
		if err != nil {
			return err
		}
		if _, err := kruise.Decode(n.YNode(), into[i]); err != nil {
			return err
		}
		if i == 0 {
			if err := c.world.Apply(n.YNode()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) fanOuts() *world.FanOuts {
	search := of(kruise.KindCloneSet, "shop", "search")
	d := c.details[search]
	target := tree.FromValue(map[string]any{"kind": search.Kind, "spec": map[string]any{"replicas": d.Pods.Desired}})
	workloads, pods := recommend()
	spaces := map[string]labels.Set{}
	for _, name := range []string{"default", "shop", "pay", "ops"} {
		spaces[name] = labels.Set{}
	}
	job, nodes := c.warming()
	list := []*world.Distribution{
		survey.Spread(&c.fans.spread, target, d.Snapshot.Pods, d.Updated), survey.United(&c.fans.united, workloads, pods),
		survey.Distribution(&c.fans.secret, spaces), survey.Pulls(job, nodes),
	}
	for i, f := range list {
		f.Created = c.start.Add(-time.Duration(i+1) * 53 * time.Hour)
	}
	return survey.FanOuts(slices.DeleteFunc(list, func(f *world.Distribution) bool { return f.Namespace != "" && !c.seen(f.Ref) })...)
}

// recommend are the subsets of the UnitedDeployment and their pods: those that may be
// taken away at any time have no room on the nodes.
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

// pullTime is how long a node of the shop pulls what is warmed up, fullNode the one
// that has no room for it.
const (
	pullTime = 20 * time.Second
	fullNode = 7
)

// warming is the ImagePullJob and its nodes, as the time has it: three at a time.
func (c *Cluster) warming() (*kruise.ImagePullJob, []*kruise.NodeImage) {
	job, took := c.fans.warm, c.world.Now().Sub(c.start)
	job.Status.Desired = nodes
	var list []*kruise.NodeImage
	for i := range nodes {
		pulled := took - time.Duration(i/3)*pullTime
		if pulled < 0 {
			break
		}
		list = append(list, c.warm(&job, i+1, pulled))
	}
	slices.SortFunc(list, func(a, b *kruise.NodeImage) int { return strings.Compare(a.Name, b.Name) })
	return &job, list
}

func (c *Cluster) warm(job *kruise.ImagePullJob, i int, pulled time.Duration) *kruise.NodeImage {
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

// sidecars sets the shop's SidecarSets against the workloads that are looked at.
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
	return survey.Sidecars(sets, func(p *cluster.Pod) cluster.Ref { return owners[p.UID] })
}
