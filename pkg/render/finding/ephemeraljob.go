package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of an EphemeralJob (docs/kruise/jobs.md#ephemeraljob and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var ephemeralJobRules = []Rule{
	{
		ID: "ephemeraljob/sequence", Kind: kruise.KindEphemeralJob, When: patchesGiven, Severity: Approximate,
		Fields:  []string{"spec.template.ephemeralContainers"},
		Becomes: "a sequence of patches in that directory, one per pod, to be sent by hand: the same patch of the subresource ephemeralcontainers that Kruise sends; nothing counts afterwards how they went",
		Action:  "go through the steps while the pods are still those",
	},
	{
		ID: "ephemeraljob/sequence-unwritten", Kind: kruise.KindEphemeralJob, When: patchesNot, Severity: Lost,
		Fields:  []string{"spec.template.ephemeralContainers"},
		Becomes: "nothing in the output: no manifest can add a container to a pod that runs",
		Action:  askPatches,
	},
	{
		ID: "ephemeraljob/selector", Kind: kruise.KindEphemeralJob, Severity: Approximate,
		Fields:  []string{"spec.selector"},
		Becomes: "the active pods among those known that match, the oldest first, without those that hold a container of the same name from elsewhere; pods that come later get none",
		Action:  "render again when there are new pods: those that have the containers are left out",
	},
	{
		ID: "ephemeraljob/no-pod", Kind: kruise.KindEphemeralJob, When: "no known pod is chosen", Severity: Lost,
		Fields:  []string{"spec.selector"},
		Becomes: "nothing is done",
		Action:  "give the pods with --with FILE (kubectl get pods -o yaml) or --live",
	},
	{
		ID: "ephemeraljob/replicas", Kind: kruise.KindEphemeralJob, Severity: Exact,
		Fields:  []string{"spec.replicas"},
		Becomes: "no more pods than that",
	},
	{
		ID: "ephemeraljob/parallelism", Kind: kruise.KindEphemeralJob, Severity: Approximate,
		Fields:  []string{"spec.parallelism"},
		Becomes: "a step waits until the containers of the pod that many steps before have ended, where Kruise goes on as soon as any have; one at a time by default",
		Action:  "nothing",
	},
	{
		ID: "ephemeraljob/paused", Kind: kruise.KindEphemeralJob, Severity: Exact,
		Fields:  []string{"spec.paused", "spec.parallelism"},
		Becomes: "a sequence without steps, also where parallelism is 0",
	},
	{
		ID: "ephemeraljob/deadline", Kind: kruise.KindEphemeralJob, Severity: Approximate,
		Fields:  []string{"spec.activeDeadlineSeconds"},
		Becomes: "the limit of each check and a line that says when to begin no further step; as with Kruise, containers that run then run on",
		Action:  "keep to it",
	},
	{
		ID: "ephemeraljob/ttl", Kind: kruise.KindEphemeralJob, Severity: Exact,
		Fields:  []string{"spec.ttlSecondsAfterFinished"},
		Becomes: "nothing: no object is made that would have to go, and the containers stay in their pods on both sides",
	},
}
