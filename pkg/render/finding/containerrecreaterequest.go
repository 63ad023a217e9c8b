package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

const (
	patchesGiven = "--patches-dir"
	patchesNot   = "without --patches-dir"
	askPatches   = "give --patches-dir DIR to have the steps written, as patches and commands that are sent by hand"
)

// What becomes of a ContainerRecreateRequest (docs/kruise/jobs.md#containerrecreaterequest and
// docs/kruise/distribution.md#what-native-kubernetes-can-express; docs/facts/kubelet.md).
var containerRecreateRequestRules = []Rule{
	{
		ID: "containerrecreaterequest/sequence", Kind: kruise.KindContainerRecreateRequest, When: patchesGiven, Severity: Approximate,
		Fields:  []string{"spec.podName"},
		Becomes: "a sequence of patches in that directory, to be sent manually; it applies to the pod as it was at rendering, and no object in the cluster records the result",
		Action:  "run the steps before the pod is replaced",
	},
	{
		ID: "containerrecreaterequest/sequence-unwritten", Kind: kruise.KindContainerRecreateRequest, When: patchesNot, Severity: Lost,
		Fields:  []string{"spec.podName"},
		Becomes: "not rendered: a manifest cannot express a restart",
		Action:  askPatches,
	},
	{
		ID: "containerrecreaterequest/pod-unknown", Kind: kruise.KindContainerRecreateRequest, When: "the pod is not known", Severity: Lost,
		Fields:  []string{"spec.podName"},
		Becomes: "not rendered: how a container can be restarted depends on its pod",
		Action:  "give the pod with --with FILE (kubectl get pod NAME -o yaml) or --live",
	},
	{
		ID: "containerrecreaterequest/image-alias", Kind: kruise.KindContainerRecreateRequest, When: "the digest of the image is known", Severity: Approximate,
		Fields:  []string{"spec.containers"},
		Becomes: "the same image is named in another way (repo:tag, repo:tag@digest, repo@digest), which makes the kubelet restart only this container, with its preStop hook; the pod then differs from its template",
		Action:  "no action needed, unless a program compares pods with their template",
	},
	{
		ID: "containerrecreaterequest/resize", Kind: kruise.KindContainerRecreateRequest, When: "resizePolicy RestartContainer, from 1.33", Severity: Approximate,
		Fields:  []string{"spec.containers"},
		Becomes: "a request is raised by 1m or 1Mi, which makes the kubelet restart only this container; whether the preStop hook runs was not measured",
		Action:  "replace the pod at some time to have the requests of its template again",
	},
	{
		ID: "containerrecreaterequest/signal", Kind: kruise.KindContainerRecreateRequest, When: "no patch restarts it, and its restartPolicy is Always", Severity: Approximate,
		Fields:  []string{"spec.containers"},
		Becomes: "TERM is sent to its first process: the image must contain kill, and the process must terminate on TERM. A preStop command runs before; KILL is never sent",
		Action:  "check both first, as described in the step",
	},
	{
		ID: "containerrecreaterequest/evict", Kind: kruise.KindContainerRecreateRequest, When: "a container cannot be restarted on its own", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "the whole pod is evicted and recreated by its controller: all containers, with another UID and IP, and possibly another node; order, failure policy and minStartedSeconds have no effect then",
		Action:  "give the pod with its status (--live), which allows less disruptive methods, or delete the request",
	},
	{
		ID: "containerrecreaterequest/no-method", Kind: kruise.KindContainerRecreateRequest, When: "no controller would recreate the pod", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "nothing is done",
		Action:  "give the pod with its status (--live), or replace it manually",
	},
	{
		ID: "containerrecreaterequest/failure-fail", Kind: kruise.KindContainerRecreateRequest, When: "Fail, the default", Severity: Exact,
		Fields:  []string{"spec.strategy.failurePolicy"},
		Becomes: "each step tells you to stop if it fails",
	},
	{
		ID: "containerrecreaterequest/failure-ignore", Kind: kruise.KindContainerRecreateRequest, When: "Ignore", Severity: Exact,
		Fields:  []string{"spec.strategy.failurePolicy"},
		Becomes: "each step tells you to continue even if it fails",
	},
	{
		ID: "containerrecreaterequest/ordered", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.strategy.orderedRecreate"},
		Becomes: "a step waits until its container is ready again; otherwise only until it has restarted",
	},
	{
		ID: "containerrecreaterequest/force", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.strategy.forceRecreate"},
		Becomes: "a container is restarted even if it has restarted by itself in the meantime",
	},
	{
		ID: "containerrecreaterequest/grace-same", Kind: kruise.KindContainerRecreateRequest, When: "as in the pod", Severity: Exact,
		Fields:  []string{"spec.strategy.terminationGracePeriodSeconds"},
		Becomes: "the kubelet uses that of the pod, which is the same",
	},
	{
		ID: "containerrecreaterequest/grace", Kind: kruise.KindContainerRecreateRequest, When: "not as in the pod, or by signal", Severity: Lost,
		Fields:  []string{"spec.strategy.terminationGracePeriodSeconds"},
		Becomes: "the kubelet uses the grace period of the pod, which cannot be patched; a container that is restarted by a signal has no limit",
		Action:  "set terminationGracePeriodSeconds in the pod's template",
	},
	{
		ID: "containerrecreaterequest/unready", Kind: kruise.KindContainerRecreateRequest, When: "the pod has the label kubectl-kruise.dev/in-service", Severity: Approximate,
		Fields:  []string{"spec.strategy.unreadyGracePeriodSeconds"},
		Becomes: "the label is removed, so that Services exclude the pod, and restored at the end; the pod itself stays ready",
		Action:  "no action needed if the Services select that label",
	},
	{
		ID: "containerrecreaterequest/unready-none", Kind: kruise.KindContainerRecreateRequest, When: "the pod lacks that label", Severity: Lost,
		Fields:  []string{"spec.strategy.unreadyGracePeriodSeconds"},
		Becomes: "not rendered: without Kruise, no readiness gate removes the pod from its Services, so waiting has no effect",
		Action:  "put the label kubectl-kruise.dev/in-service into the template and into the selectors of its Services",
	},
	{
		ID: "containerrecreaterequest/min-started", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.strategy.minStartedSeconds"},
		Becomes: "a container must be ready, and still be ready after that many seconds",
	},
	{
		ID: "containerrecreaterequest/deadline", Kind: kruise.KindContainerRecreateRequest, Severity: Approximate,
		Fields:  []string{"spec.activeDeadlineSeconds"},
		Becomes: "the limit of each check and a line that tells you when to stop; nothing stops by itself",
		Action:  "keep to it",
	},
	{
		ID: "containerrecreaterequest/ttl", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.ttlSecondsAfterFinished"},
		Becomes: "not needed: there is no object to delete",
	},
}
