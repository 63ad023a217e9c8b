package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of an EphemeralJob (docs/kruise/jobs.md#ephemeraljob and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var ephemeralJobRules = []Rule{
	{
		ID: "ephemeraljob/sequence", Kind: kruise.KindEphemeralJob, When: patchesGiven, Severity: Approximate,
		Fields:  []string{"spec.template.ephemeralContainers"},
		Becomes: "a sequence of patches in that directory, one for each pod, to be sent manually: the same patch of the subresource ephemeralcontainers that Kruise sends; no object records the results",
		Action:  "run the steps before the pods are replaced",
	},
	{
		ID: "ephemeraljob/sequence-unwritten", Kind: kruise.KindEphemeralJob, When: patchesNot, Severity: Lost,
		Fields:  []string{"spec.template.ephemeralContainers"},
		Becomes: "not rendered: a manifest cannot add a container to a running pod",
		Action:  askPatches,
	},
	{
		ID: "ephemeraljob/selector", Kind: kruise.KindEphemeralJob, Severity: Approximate,
		Fields:  []string{"spec.selector"},
		Becomes: "the known active pods that match, the oldest first, without those that already have another container of the same name; pods that are created later get none",
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
		Becomes: "a step waits until the containers that were added that many steps before have ended, whereas Kruise continues as soon as any have; the default is one at a time",
		Action:  "no action needed",
	},
	{
		ID: "ephemeraljob/paused", Kind: kruise.KindEphemeralJob, Severity: Exact,
		Fields:  []string{"spec.paused", "spec.parallelism"},
		Becomes: "a sequence without steps, also if parallelism is 0",
	},
	{
		ID: "ephemeraljob/deadline", Kind: kruise.KindEphemeralJob, Severity: Approximate,
		Fields:  []string{"spec.activeDeadlineSeconds"},
		Becomes: "the limit of each check and a line that tells you when to start no further step; as with Kruise, running containers continue",
		Action:  "keep to it",
	},
	{
		ID: "ephemeraljob/ttl", Kind: kruise.KindEphemeralJob, Severity: Exact,
		Fields:  []string{"spec.ttlSecondsAfterFinished"},
		Becomes: "not needed: there is no object to delete, and the containers stay in their pods in both cases",
	},
}
