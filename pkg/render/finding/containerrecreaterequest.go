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
		Becomes: "a sequence of patches in that directory, to be sent by hand; it was written for the pod as it was known, and nothing is left in the cluster that says how it went",
		Action:  "go through the steps while the pod is still that one",
	},
	{
		ID: "containerrecreaterequest/sequence-unwritten", Kind: kruise.KindContainerRecreateRequest, When: patchesNot, Severity: Lost,
		Fields:  []string{"spec.podName"},
		Becomes: "nothing in the output: a restart is not a state that a manifest could hold",
		Action:  askPatches,
	},
	{
		ID: "containerrecreaterequest/pod-unknown", Kind: kruise.KindContainerRecreateRequest, When: "the pod is not known", Severity: Lost,
		Fields:  []string{"spec.podName"},
		Becomes: "nothing: how a container can be restarted depends on its pod",
		Action:  "give the pod with --with FILE (kubectl get pod NAME -o yaml) or --live",
	},
	{
		ID: "containerrecreaterequest/image-alias", Kind: kruise.KindContainerRecreateRequest, When: "the digest of the image is known", Severity: Approximate,
		Fields:  []string{"spec.containers"},
		Becomes: "the same image is named in another way (repo:tag, repo:tag@digest, repo@digest), which has the kubelet restart this container alone, with its preStop hook; the pod differs from its template in that",
		Action:  "nothing, unless something compares pods with their template",
	},
	{
		ID: "containerrecreaterequest/resize", Kind: kruise.KindContainerRecreateRequest, When: "resizePolicy RestartContainer, from 1.33", Severity: Approximate,
		Fields:  []string{"spec.containers"},
		Becomes: "a request is raised by 1m or 1Mi, which has the kubelet restart this container alone; whether it runs the preStop hook then was not measured",
		Action:  "replace the pod some day to be back at what its template asks for",
	},
	{
		ID: "containerrecreaterequest/signal", Kind: kruise.KindContainerRecreateRequest, When: "no patch restarts it, and its restartPolicy is Always", Severity: Approximate,
		Fields:  []string{"spec.containers"},
		Becomes: "TERM is sent to its first process: the image must hold kill, and the process must end on TERM. A preStop command is run before; nothing sends KILL afterwards",
		Action:  "check both beforehand, as the step says",
	},
	{
		ID: "containerrecreaterequest/evict", Kind: kruise.KindContainerRecreateRequest, When: "some container cannot be restarted alone", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "the whole pod is evicted and recreated by its controller: all containers, another uid and address, perhaps another node; order, failure policy and minStartedSeconds have no meaning then",
		Action:  "give the pod with its status (--live), which allows gentler ways, or delete the request",
	},
	{
		ID: "containerrecreaterequest/no-method", Kind: kruise.KindContainerRecreateRequest, When: "no controller would recreate the pod", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "nothing is done",
		Action:  "give the pod with its status (--live), or replace it by hand",
	},
	{
		ID: "containerrecreaterequest/failure-fail", Kind: kruise.KindContainerRecreateRequest, When: "Fail, the default", Severity: Exact,
		Fields:  []string{"spec.strategy.failurePolicy"},
		Becomes: "each step says that the sequence ends where it fails",
	},
	{
		ID: "containerrecreaterequest/failure-ignore", Kind: kruise.KindContainerRecreateRequest, When: "Ignore", Severity: Exact,
		Fields:  []string{"spec.strategy.failurePolicy"},
		Becomes: "each step says that the next one follows also when it fails",
	},
	{
		ID: "containerrecreaterequest/ordered", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.strategy.orderedRecreate"},
		Becomes: "a step waits until its container is ready again; otherwise only until it has restarted",
	},
	{
		ID: "containerrecreaterequest/force", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.strategy.forceRecreate"},
		Becomes: "no step is left out because its container has restarted by itself meanwhile",
	},
	{
		ID: "containerrecreaterequest/grace-same", Kind: kruise.KindContainerRecreateRequest, When: "as in the pod", Severity: Exact,
		Fields:  []string{"spec.strategy.terminationGracePeriodSeconds"},
		Becomes: "the kubelet keeps to that of the pod, which is the same",
	},
	{
		ID: "containerrecreaterequest/grace", Kind: kruise.KindContainerRecreateRequest, When: "not as in the pod, or by signal", Severity: Lost,
		Fields:  []string{"spec.strategy.terminationGracePeriodSeconds"},
		Becomes: "the kubelet keeps to the grace period of the pod, which no patch changes; a container that got a signal has no limit at all",
		Action:  "set terminationGracePeriodSeconds in the pod's template",
	},
	{
		ID: "containerrecreaterequest/unready", Kind: kruise.KindContainerRecreateRequest, When: "the pod has the label kubectl-kruise.dev/in-service", Severity: Approximate,
		Fields:  []string{"spec.strategy.unreadyGracePeriodSeconds"},
		Becomes: "the label is taken off, so that Services leave the pod out, and put back in the end; the pod itself stays ready",
		Action:  "nothing, where the Services select that label",
	},
	{
		ID: "containerrecreaterequest/unready-none", Kind: kruise.KindContainerRecreateRequest, When: "the pod lacks that label", Severity: Lost,
		Fields:  []string{"spec.strategy.unreadyGracePeriodSeconds"},
		Becomes: "nothing: without Kruise no readiness gate takes the pod out of its Services, so waiting would be of no use",
		Action:  "put the label kubectl-kruise.dev/in-service into the template and into the selectors of its Services",
	},
	{
		ID: "containerrecreaterequest/min-started", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.strategy.minStartedSeconds"},
		Becomes: "a container must be ready, and still be so that many seconds later",
	},
	{
		ID: "containerrecreaterequest/deadline", Kind: kruise.KindContainerRecreateRequest, Severity: Approximate,
		Fields:  []string{"spec.activeDeadlineSeconds"},
		Becomes: "the limit of each check and a line that says when to stop; nothing stops by itself",
		Action:  "keep to it",
	},
	{
		ID: "containerrecreaterequest/ttl", Kind: kruise.KindContainerRecreateRequest, Severity: Exact,
		Fields:  []string{"spec.ttlSecondsAfterFinished"},
		Becomes: "nothing: no object is made that would have to go",
	},
}
