package finding

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const perNode = "nodes are known"

// What becomes of a BroadcastJob (docs/kruise/jobs.md#broadcastjob and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var broadcastJobRules = slices.Concat(templateRules(kruise.KindBroadcastJob, "broadcastjob"), []Rule{
	alwaysPulled(kruise.KindBroadcastJob, "broadcastjob"),
	{
		ID: "broadcastjob/always", Kind: kruise.KindBroadcastJob, When: perNode, Severity: Approximate,
		Fields:  []string{"spec.completionPolicy.type"},
		Becomes: "one Job for each node that matches now, bound to it by node affinity as with Kruise; nodes that join later get none, and a pod that is deleted while it runs fails its Job, whereas Kruise creates another",
		Action:  "render again when nodes have joined, and delete a Job instead of its pod",
	},
	{
		ID: "broadcastjob/never", Kind: kruise.KindBroadcastJob, When: "Never", Severity: Approximate,
		Fields:  []string{"spec.completionPolicy.type"},
		Becomes: "a DaemonSet that runs the containers one after another as init containers, then holds the node with a pause container; it follows new nodes, but tolerates more taints, and runs the task again when the pod comes back",
		Action:  "make sure that the task can run more than once",
	},
	{
		ID: "broadcastjob/indexed", Kind: kruise.KindBroadcastJob, When: "only the number of nodes is known", Severity: Approximate,
		Fields:  []string{"metadata.annotations[kubectl-kruise.dev/nodes]"},
		Becomes: "one Indexed Job whose pods run on different nodes by anti-affinity; when a pod ends early, another may run on its node",
		Action:  "render with --with nodes.yaml or --live to get a Job per node",
	},
	{
		ID: "broadcastjob/nodes-unknown", Kind: kruise.KindBroadcastJob, When: "no node is known", Severity: Error,
		Fields:  []string{"spec.template.spec"},
		Becomes: "not rendered: it becomes a Job per node",
		Action:  "give the nodes with --with nodes.yaml or --live, or their number in the annotation kubectl-kruise.dev/nodes",
	},
	{
		ID: "broadcastjob/no-node", Kind: kruise.KindBroadcastJob, When: perNode, Severity: Lost,
		Fields:  []string{"spec.template.spec"},
		Becomes: "not rendered: no known node matches, whereas a BroadcastJob would wait for one",
		Action:  "check node selector, affinity, tolerations and requests against the nodes",
	},
	{
		ID: "broadcastjob/parallelism", Kind: kruise.KindBroadcastJob, Severity: Lost,
		Fields:  []string{"spec.parallelism"},
		Becomes: "all pods start at once",
		Action:  "apply the Jobs in groups, or suspend them and resume a few at a time",
	},
	{
		ID: "broadcastjob/parallelism-all", Kind: kruise.KindBroadcastJob, When: "no fewer than nodes", Severity: Exact,
		Fields:  []string{"spec.parallelism"},
		Becomes: "all pods start at once, as with Kruise",
	},
	{
		ID: "broadcastjob/parallelism-none", Kind: kruise.KindBroadcastJob, When: "0", Severity: Approximate,
		Fields:  []string{"spec.parallelism"},
		Becomes: "suspend of each Job, which also stops running pods, whereas a BroadcastJob lets them continue",
		Action:  "no action needed for a job that has not started",
	},
	{
		ID: "broadcastjob/deadline", Kind: kruise.KindBroadcastJob, Severity: Exact,
		Fields:  []string{"spec.completionPolicy.activeDeadlineSeconds"},
		Becomes: "activeDeadlineSeconds of each Job",
	},
	{
		ID: "broadcastjob/ttl", Kind: kruise.KindBroadcastJob, Severity: Approximate,
		Fields:  []string{"spec.completionPolicy.ttlSecondsAfterFinished"},
		Becomes: "ttlSecondsAfterFinished of each Job, counted from its own end, not from the last node's",
		Action:  "no action needed, unless a program reads all of them afterwards",
	},
	{
		ID: "broadcastjob/paused", Kind: kruise.KindBroadcastJob, Severity: Approximate,
		Fields:  []string{"spec.paused"},
		Becomes: "suspend of each Job, which also stops running pods, whereas a paused BroadcastJob lets them continue",
		Action:  "no action needed for a job that has not started",
	},
	{
		ID: "broadcastjob/paused-never", Kind: kruise.KindBroadcastJob, When: "Never, paused or with parallelism 0", Severity: Approximate,
		Fields:  []string{"spec.paused", "spec.parallelism"},
		Becomes: "not rendered: a DaemonSet cannot be paused",
		Action:  "render again when the nodes change",
	},
	{
		ID: "broadcastjob/continue", Kind: kruise.KindBroadcastJob, Severity: Exact,
		Fields:  []string{"spec.failurePolicy.type"},
		Becomes: "a failed pod fails only its own Job; the others continue",
	},
	{
		ID: "broadcastjob/fail-fast", Kind: kruise.KindBroadcastJob, When: "FailFast, the default", Severity: Lost,
		Fields:  []string{"spec.failurePolicy.type"},
		Becomes: "a failed pod fails only its own Job; the others continue",
		Action:  "delete the other Jobs when one fails, or set Continue",
	},
	{
		ID: "broadcastjob/pause", Kind: kruise.KindBroadcastJob, When: "Pause", Severity: Lost,
		Fields:  []string{"spec.failurePolicy.type"},
		Becomes: "a failed pod fails only its own Job; the other Jobs are not paused",
		Action:  "suspend the other Jobs when one fails, or set Continue",
	},
	{
		ID: "broadcastjob/restart-limit", Kind: kruise.KindBroadcastJob, When: "restartPolicy OnFailure", Severity: Approximate,
		Fields:  []string{"spec.failurePolicy.restartLimit"},
		Becomes: "backoffLimit plus 1, or 0 if it is 0; the Job then stops the pod, whereas Kruise counts it as failed and lets it restart further",
		Action:  "no action needed: a Job that ends is the intention",
	},
	{
		ID: "broadcastjob/restart-limit-never", Kind: kruise.KindBroadcastJob, When: "restartPolicy Never", Severity: Exact,
		Fields:  []string{"spec.failurePolicy.restartLimit"},
		Becomes: "not needed: a pod that never restarts fails at once in both cases",
	},
})
