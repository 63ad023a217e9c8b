package lower

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// broadcastJob is one BroadcastJob that is rendered.
type broadcastJob struct {
	object
	spec kruise.BroadcastJobSpec
}

// jobNameLimit is the longest name of a Job: its pods carry it in a label.
const jobNameLimit = 63

// lowerBroadcastJob returns a Job per node where nodes are known, one Indexed Job
// where only their number is, and a DaemonSet for a job that never completes.
func lowerBroadcastJob(c *stage.Context, related *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	b, err := readBroadcastJob(c, r)
	if err != nil {
		return nil, err
	}
	out, err := b.pieces(related)
	if err == nil {
		c.Lineage.Became(r.ID(), out...)
	}
	return out, err
}

func readBroadcastJob(c *stage.Context, r *resource.Resource) (*broadcastJob, error) {
	var job kruise.BroadcastJob
	o, err := newObject(c, r, "broadcastjob", &job)
	if err != nil {
		return nil, err
	}
	o.alwaysPull = true
	return &broadcastJob{object: o, spec: job.Spec}, nil
}

// pieces returns what the job becomes, and reports.
func (b *broadcastJob) pieces(related *relatedObjects) ([]*resource.Resource, error) {
	b.reportFields()
	if b.neverCompletes() {
		b.report("broadcastjob/never", "spec.completionPolicy.type", "")
		if b.createsNoPods() {
			field := "spec.parallelism"
			if b.spec.Paused {
				field = "spec.paused"
			}
			b.report("broadcastjob/paused-never", field, "")
			return nil, nil
		}
		return []*resource.Resource{resource.Derived(b.native("apps/v1", kruise.KindDaemonSet, b.daemonSetSpec), b.r)}, nil
	}
	count, given, err := b.nodeCount()
	switch {
	case err != nil:
		return nil, err
	case len(related.nodes) > 0:
		return b.perNode(related.nodes)
	case given:
		b.report("broadcastjob/indexed", "metadata.annotations["+kruise.NodesAnnotation+"]", "")
		return []*resource.Resource{resource.Derived(b.native("batch/v1", "Job", func(*tree.Node) *tree.Node { return b.indexedSpec(count) }), b.r)}, nil
	}
	return nil, b.nodesUnknown("spec")
}

// perNode returns the Job of each node that fits.
func (b *broadcastJob) perNode(nodes []*corev1.Node) ([]*resource.Resource, error) {
	var out []*resource.Resource
	template := b.jobTemplate()
	if err := b.c.Fits(b.r, "spec.template", tree.Weigh(template), len(nodes), "nodes with a Job"); err != nil {
		return nil, err
	}
	for _, node := range nodes {
		if !fitsNode(&b.spec.Template.Spec, node) {
			continue
		}
		job := b.native("batch/v1", "Job", func(*tree.Node) *tree.Node { return b.jobSpec(templateForNode(template, node.Name)) })
		b.rename(job, stage.PieceName(b.r.Name(), node.Name, jobNameLimit, false))
		out = append(out, resource.Derived(job, b.r))
	}
	if len(out) == 0 {
		b.report("broadcastjob/no-node", "spec.template.spec", "")
	}
	b.reportParallelism(len(out))
	return commentOnce(out), nil
}

// rename gives an object that native made another name.
func (o *object) rename(n *tree.Node, name string) {
	metadata := tree.Shallow(tree.Get(n, "metadata"))
	tree.Set(metadata, "name", tree.String(name))
	tree.Set(n, "metadata", metadata)
}

// jobTemplate returns the pod template of the Jobs.
func (b *broadcastJob) jobTemplate() *tree.Node {
	return b.template(tree.Get(b.hub, "spec", "template"))
}

// jobSpec returns the spec of a Job with a template.
func (b *broadcastJob) jobSpec(template *tree.Node) *tree.Node {
	out := tree.Map("backoffLimit", tree.Int64(b.backoffLimit()))
	if b.createsNoPods() {
		tree.Set(out, "suspend", tree.Boolean(true))
	}
	if s := b.spec.CompletionPolicy.ActiveDeadlineSeconds; s != nil {
		tree.Set(out, "activeDeadlineSeconds", tree.Int64(*s))
	}
	if s := b.spec.CompletionPolicy.TTLSecondsAfterFinished; s != nil {
		tree.Set(out, "ttlSecondsAfterFinished", tree.Int64(int64(*s)))
	}
	tree.Set(out, "template", template)
	return out
}

// backoffLimit is when the Job gives up. A BroadcastJob never makes a second pod
// for a node, and under OnFailure it counts a pod as failed once it has had more
// than restartLimit restarts, where a Job does at backoffLimit of them.
func (b *broadcastJob) backoffLimit() int64 {
	if b.spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure || b.spec.FailurePolicy.RestartLimit <= 0 {
		return 0
	}
	return int64(b.spec.FailurePolicy.RestartLimit) + 1
}

// templateForNode returns the template for one node, as Kruise makes it: the required node
// affinity, which served to choose nodes, is replaced; preferences stay.
func templateForNode(template *tree.Node, node string) *tree.Node {
	return withAffinity(template, func(affinity *tree.Node) {
		nodes := copyField(affinity, "nodeAffinity")
		term := tree.Map("matchFields", tree.Seq(tree.Map("key", "metadata.name", "operator", "In", "values", tree.Seq(tree.String(node)))))
		tree.Set(nodes, "requiredDuringSchedulingIgnoredDuringExecution", tree.Map("nodeSelectorTerms", tree.Seq(term)))
	})
}

// withAffinity returns the template with its affinity, a copy, changed.
func withAffinity(template *tree.Node, change func(affinity *tree.Node)) *tree.Node {
	out := tree.Shallow(template)
	change(copyField(copyField(out, "spec"), "affinity"))
	return out
}

// copyField returns a copy of a mapping's field, put in its place; a field that is
// not there is made.
func copyField(n *tree.Node, field string) *tree.Node {
	have := tree.Get(n, field)
	if !tree.IsMap(have) {
		have = tree.Map()
	}
	have = tree.Shallow(have)
	tree.Set(n, field, have)
	return have
}

// createsNoPods reports whether the job never creates a pod: it is paused, or its parallelism is 0.
func (b *broadcastJob) createsNoPods() bool { return b.spec.Paused || b.hasZeroParallelism() }

// hasZeroParallelism reports whether the parallelism is 0 for any number of nodes.
func (b *broadcastJob) hasZeroParallelism() bool {
	if b.spec.Parallelism == nil {
		return false
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(b.spec.Parallelism, 100, true)
	return err == nil && n <= 0
}

func (b *broadcastJob) neverCompletes() bool {
	return b.spec.CompletionPolicy.Type == kruise.NeverCompletionPolicyType
}

// indexedSpec returns the spec of one Job with a pod for each of count nodes.
func (b *broadcastJob) indexedSpec(count int) *tree.Node {
	spec := indexedJobSpec(b.jobSpec(withLabel(b.jobTemplate(), b.source())), b.source(), count)
	// A Job counts the failed pods of all indexes; the BroadcastJob continues. The
	// limit per index exists for restartPolicy Never only.
	if b.spec.FailurePolicy.Type == kruise.ContinueFailurePolicyType && b.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever {
		tree.Set(spec, "backoffLimitPerIndex", tree.Int64(b.backoffLimit()))
		tree.Delete(spec, "backoffLimit")
	}
	b.reportParallelism(count)
	return spec
}

// indexedJobSpec turns the spec of a Job into that of an Indexed Job with count pods that
// avoid each other's nodes by their label. They all run at once: a finished
// pod keeps no other from its node.
func indexedJobSpec(spec *tree.Node, source string, count int) *tree.Node {
	tree.Set(spec, "template", withAffinity(tree.Get(spec, "template"), func(affinity *tree.Node) {
		pods := copyField(affinity, "podAntiAffinity")
		const required = "requiredDuringSchedulingIgnoredDuringExecution"
		terms := tree.Seq(tree.Map("topologyKey", corev1.LabelHostname,
			"labelSelector", tree.Map("matchLabels", tree.Map(kruise.SourceLabel, source))))
		terms.Content = append(terms.Content, tree.Items(tree.Get(pods, required))...)
		tree.Set(pods, required, terms)
	}))
	for _, field := range []string{"parallelism", "completions"} {
		tree.InsertAfter(spec, "backoffLimit", field, tree.Int64(int64(count)))
	}
	tree.InsertAfter(spec, "backoffLimit", "completionMode", tree.String("Indexed"))
	return spec
}

// withLabel returns the template with the label that distinguishes its pods from others.
func withLabel(template *tree.Node, source string) *tree.Node {
	out := tree.Shallow(template)
	metadata := copyField(out, "metadata")
	labels := copyField(metadata, "labels")
	if !tree.Has(labels, kruise.SourceLabel) {
		tree.Set(labels, kruise.SourceLabel, tree.String(source))
	}
	return out
}

// pauseImage holds a DaemonSet's pod after the task is done.
const pauseImage = "registry.k8s.io/pause:3.10.1"

// daemonSetSpec returns the spec of a DaemonSet that runs the task as init
// containers, once per pod, and then holds the node.
func (b *broadcastJob) daemonSetSpec(*tree.Node) *tree.Node {
	template := withLabel(b.jobTemplate(), b.source())
	spec := copyField(template, "spec")
	tree.Delete(spec, "restartPolicy")
	tree.Delete(spec, "activeDeadlineSeconds")
	tasks := tree.Seq(tree.Items(tree.Get(spec, "initContainers"))...)
	for _, c := range tree.Items(tree.Get(spec, "containers")) {
		task := tree.Shallow(c)
		for _, field := range []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"} {
			tree.Delete(task, field) // an init container may not have it
		}
		tasks.Content = append(tasks.Content, task)
	}
	tree.Set(spec, "initContainers", tasks)
	tree.Set(spec, "containers", tree.Seq(pauseContainer(unusedName(tasks))))
	return tree.Map("selector", tree.Map("matchLabels", tree.Map(kruise.SourceLabel, tree.StrAt(template, "metadata", "labels", kruise.SourceLabel))),
		"template", template)
}

// pauseContainer returns a container that does nothing.
func pauseContainer(name string) *tree.Node {
	return tree.Map("name", name, "image", pauseImage, "resources", tree.Map("requests", tree.Map("cpu", "1m", "memory", "4Mi")))
}

// unusedName returns a container name that no task has.
func unusedName(tasks *tree.Node) string {
	name := "done"
	for _, at := tree.Find(tasks, "name", name); at >= 0; _, at = tree.Find(tasks, "name", name) {
		name += "-done"
	}
	return name
}

func (b *broadcastJob) reportFields() {
	b.report("broadcastjob/template", "spec.template", "")
	policy := b.spec.CompletionPolicy
	if policy.Type == kruise.AlwaysCompletionPolicyType {
		b.report("broadcastjob/always", "spec.completionPolicy.type", "")
	}
	if policy.ActiveDeadlineSeconds != nil {
		b.report("broadcastjob/deadline", "spec.completionPolicy.activeDeadlineSeconds", "")
	}
	if policy.TTLSecondsAfterFinished != nil {
		b.report("broadcastjob/ttl", "spec.completionPolicy.ttlSecondsAfterFinished", "")
	}
	if b.spec.Paused && !b.neverCompletes() {
		b.report("broadcastjob/paused", "spec.paused", "")
	}
	b.reportFailure()
}

// reportFailure reports what a failed pod leads to, also by default: FailFast is what a Job per node cannot do.
func (b *broadcastJob) reportFailure() {
	const field = "spec.failurePolicy.type"
	switch b.spec.FailurePolicy.Type {
	case kruise.ContinueFailurePolicyType:
		b.report("broadcastjob/continue", field, "")
	case kruise.PauseFailurePolicyType:
		b.report("broadcastjob/pause", field, "")
	default:
		b.report("broadcastjob/fail-fast", field, "")
	}
	b.reportRestarts()
}

// reportRestarts reports restartLimit, also by default: a Job ends its pod where Kruise
// only counts it.
func (b *broadcastJob) reportRestarts() {
	const field = "spec.failurePolicy.restartLimit"
	limit := b.spec.FailurePolicy.RestartLimit
	switch restarts := b.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure; {
	case restarts && (limit != 0 || !b.neverCompletes()):
		b.report("broadcastjob/restart-limit", field, fmt.Sprintf("backoffLimit %d: the Job fails at restart %d", b.backoffLimit(), max(1, b.backoffLimit())))
	case limit != 0:
		b.report("broadcastjob/restart-limit-never", field, "")
	}
}

// reportParallelism reports parallelism when it would limit the pods on this number of nodes.
func (b *broadcastJob) reportParallelism(nodes int) {
	p := b.spec.Parallelism
	if p == nil {
		return
	}
	if b.hasZeroParallelism() {
		b.report("broadcastjob/parallelism-none", "spec.parallelism", "")
		return
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(p, nodes, true)
	if err != nil || most >= nodes {
		b.report("broadcastjob/parallelism-all", "spec.parallelism", "")
		return
	}
	b.report("broadcastjob/parallelism", "spec.parallelism", fmt.Sprintf("all %s start at once, whereas Kruise runs %d at a time", counted.Of(nodes, "pod"), most))
}
