package lower

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// indexedSpec returns the spec of one Job with a pod for each of count nodes.
func (b *broadcastJob) indexedSpec(count int) *tree.Node {
	spec := indexed(b.jobSpec(withLabel(b.jobTemplate(), b.source())), b.source(), count)
	// A Job counts the failed pods of all indexes; the BroadcastJob goes on. The
	// limit per index exists for restartPolicy Never only.
	if b.spec.FailurePolicy.Type == kruise.ContinueFailurePolicyType && b.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever {
		tree.Set(spec, "backoffLimitPerIndex", tree.Int64(b.backoffLimit()))
		tree.Delete(spec, "backoffLimit")
	}
	b.reportParallelism(count)
	return spec
}

// indexed makes the spec of a Job that of an Indexed Job with count pods, told by
// their label, that keep off each other's nodes. They all run at once: a finished
// pod keeps no other from its node.
func indexed(spec *tree.Node, source string, count int) *tree.Node {
	tree.Set(spec, "template", withAffinity(tree.Get(spec, "template"), func(affinity *tree.Node) {
		pods := below(affinity, "podAntiAffinity")
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

// withLabel returns the template with the label by which its pods are told from
// others.
func withLabel(template *tree.Node, source string) *tree.Node {
	out := tree.Shallow(template)
	metadata := below(out, "metadata")
	labels := below(metadata, "labels")
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
	spec := below(template, "spec")
	tree.Delete(spec, "restartPolicy")
	tree.Delete(spec, "activeDeadlineSeconds")
	tasks := tree.Seq(tree.Items(tree.Get(spec, "initContainers"))...)
	for _, c := range tree.Items(tree.Get(spec, "containers")) {
		tasks.Content = append(tasks.Content, asInit(c))
	}
	tree.Set(spec, "initContainers", tasks)
	tree.Set(spec, "containers", tree.Seq(pause(holder(tasks))))
	return tree.Map("selector", tree.Map("matchLabels", tree.Map(kruise.SourceLabel, tree.StrAt(template, "metadata", "labels", kruise.SourceLabel))),
		"template", template)
}

// pause is a container that does nothing.
func pause(name string) *tree.Node {
	return tree.Map("name", name, "image", pauseImage, "resources", tree.Map("requests", tree.Map("cpu", "1m", "memory", "4Mi")))
}

// asInit returns a container without what an init container may not have.
func asInit(c *tree.Node) *tree.Node {
	c = tree.Shallow(c)
	for _, field := range []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"} {
		tree.Delete(c, field)
	}
	return c
}

// holder is a name that no task has.
func holder(tasks *tree.Node) string {
	name := "done"
	for _, at := tree.Find(tasks, "name", name); at >= 0; _, at = tree.Find(tasks, "name", name) {
		name += "-done"
	}
	return name
}
