package finding

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// What becomes of an ImagePullJob and of an ImageListPullJob, which is the same
// for each of its images (docs/kruise/jobs.md#image-pulls and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var imagePullJobRules = slices.Concat(pullsOf(kruise.KindImagePullJob, "spec.image"), pullsOf(kruise.KindImageListPullJob, "spec.images"))

// pullsOf returns the rules of pulls for a kind whose images are in a field.
func pullsOf(kind, images string) []Rule {
	out := make([]Rule, len(pulls))
	for i, r := range pulls {
		r.ID, r.Kind = strings.ToLower(kind)+"/"+r.ID, kind
		if r.Fields[0] == pulledImage {
			r.Fields = []string{images}
		}
		out[i] = r
	}
	return out
}

// pulledImage is in pulls instead of the field that names the image.
const pulledImage = "image"

// pulls are the rules without their kind, which begins their IDs.
var pulls = []Rule{
	{
		ID: "pull", When: perNode, Severity: Approximate,
		Fields:  []string{pulledImage},
		Becomes: "one Job for each node, whose pod mounts the image as a volume, so that the kubelet pulls it; nodes that join later get none",
		Action:  "render again when nodes have joined",
	},
	{
		ID: "pull-older", When: "--kubernetes-version below 1.35", Severity: Approximate,
		Fields:  []string{pulledImage},
		Becomes: "the pod runs the image itself with a program copied into it, since image volumes are disabled by default in API servers; images for another platform cannot be pulled in this way",
		Action:  "no action needed, or enable the gate ImageVolume and render for 1.35",
	},
	{
		ID: "indexed", When: "only the number of nodes is known", Severity: Approximate,
		Fields:  []string{"metadata.annotations[kubectl-kruise.dev/nodes]"},
		Becomes: "one Indexed Job whose pods run on different nodes by anti-affinity; when a pod ends early, another may run on its node, and the node selectors are ignored",
		Action:  "render with --with nodes.yaml or --live to get a Job per node",
	},
	{
		ID: "nodes-unknown", When: "no node is known", Severity: Error,
		Fields:  []string{"spec.selector"},
		Becomes: "not rendered: it becomes a Job per node",
		Action:  "give the nodes with --with nodes.yaml or --live, or their number in the annotation kubectl-kruise.dev/nodes",
	},
	{
		ID: "no-node", Severity: Lost,
		Fields:  []string{"spec.selector"},
		Becomes: "not rendered: no known node is selected; Kruise completes such a job at once",
		Action:  "check the selector against the nodes",
	},
	{
		ID: "never", When: "Never", Severity: Approximate,
		Fields:  []string{"spec.completionPolicy.type"},
		Becomes: "a DaemonSet that pulls in an init container and then holds the node with a pause container; it follows new nodes by labels and names, but not the pods of a podSelector",
		Action:  "delete it when the image need not be kept",
	},
	{
		ID: "parallelism", Severity: Lost,
		Fields:  []string{"spec.parallelism"},
		Becomes: "all nodes pull at once; the default of Kruise is one at a time",
		Action:  "apply the Jobs in groups if this is too much for the registry",
	},
	{
		ID: "paused", When: "parallelism 0", Severity: Exact,
		Fields:  []string{"spec.parallelism"},
		Becomes: "suspend of each Job",
	},
	{
		ID: "paused-never", When: "parallelism 0, Never", Severity: Approximate,
		Fields:  []string{"spec.parallelism"},
		Becomes: "not rendered: a DaemonSet cannot be paused",
		Action:  "render again with another parallelism to start the pull",
	},
	{
		ID: "selector", Severity: Exact,
		Fields:  []string{"spec.selector"},
		Becomes: "the same nodes; names that no known node has are left out, as with Kruise",
	},
	{
		ID: "pod-selector", Severity: Approximate,
		Fields:  []string{"spec.podSelector"},
		Becomes: "the nodes on which the known pods run now",
		Action:  "render again when pods have moved",
	},
	{
		ID: "pull-secrets", Severity: Exact,
		Fields:  []string{"spec.pullSecrets"},
		Becomes: "imagePullSecrets of the pods",
	},
	{
		ID: "pull-policy", Severity: Approximate,
		Fields:  []string{"spec.pullPolicy"},
		Becomes: "activeDeadlineSeconds: the time of all attempts together; the kubelet also waits between them",
		Action:  "no action needed",
	},
	{
		ID: "image-pull-policy", Severity: Exact,
		Fields:  []string{"spec.imagePullPolicy"},
		Becomes: "the pull policy of the volume, IfNotPresent by default",
	},
	{
		ID: "sandbox", Severity: Lost,
		Fields:  []string{"spec.sandboxConfig"},
		Becomes: "not rendered: the kubelet creates the sandbox",
		Action:  "add the values that the runtime reads as annotations of the Jobs' pods",
	},
	{
		ID: "deadline", Severity: Exact,
		Fields:  []string{"spec.completionPolicy.activeDeadlineSeconds"},
		Becomes: "activeDeadlineSeconds of each Job, unless all attempts take less",
	},
	{
		ID: "ttl", Severity: Approximate,
		Fields:  []string{"spec.completionPolicy.ttlSecondsAfterFinished"},
		Becomes: "ttlSecondsAfterFinished of each Job, counted from its own end, not from the last node's",
		Action:  "no action needed, unless a program reads all of them afterwards",
	},
}

// What becomes of a NodeImage (docs/kruise/jobs.md#image-pulls).
var nodeImageRules = []Rule{{
	ID: "nodeimage/kept", Kind: kruise.KindNodeImage, Severity: Lost,
	Fields:  []string{"spec.images"},
	Becomes: "the object stays a Kruise object: without Kruise's node agent the images are not pulled",
	Action:  "write an ImagePullJob, which becomes Jobs that pull; or let the kubelet pull when pods start",
}}
