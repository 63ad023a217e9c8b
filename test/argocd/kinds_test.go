package argocd

import "testing"

// TestHealth_OfEachKind: what each kind's status means.
func TestHealth_OfEachKind(t *testing.T) {
	const clone = "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {generation: 2}\n"
	for name, c := range map[string]struct{ object, want string }{
		"not yet seen":               {clone + "spec: {}", "Progressing"},
		"an older spec":              {clone + "spec: {replicas: 1}\nstatus: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, expectedUpdatedReplicas: 1}", "Progressing"},
		"paused on the way":          {clone + "spec: {replicas: 4, updateStrategy: {rollingUpdate: {paused: true}}}\nstatus: {observedGeneration: 2, replicas: 4, updatedReplicas: 1, availableReplicas: 4, expectedUpdatedReplicas: 4}", "Suspended"},
		"at its partition":           {clone + "spec: {replicas: 4}\nstatus: {observedGeneration: 2, replicas: 4, updatedReplicas: 1, availableReplicas: 4, expectedUpdatedReplicas: 1}", "Healthy"},
		"no room":                    {clone + "spec: {replicas: 4}\nstatus: {observedGeneration: 2, replicas: 3, conditions: [{type: FailedScale, status: 'True', message: exceeded quota}]}", "Degraded"},
		"two writers":                {clone + "spec: {replicas: 4}\nstatus: {observedGeneration: 2, replicas: 3, conditions: [{type: FailedScale, status: 'True', message: 'Operation cannot be fulfilled on pods \"a\": the object has been modified; please'}]}", "Progressing"},
		"an ASTS at its partition":   {"apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\nmetadata: {generation: 1}\nspec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}\nstatus: {observedGeneration: 1, replicas: 3, updatedReplicas: 1, availableReplicas: 3}", "Healthy"},
		"an ADS, a percentage down":  {"apiVersion: apps.kruise.io/v1beta1\nkind: DaemonSet\nmetadata: {generation: 1}\nspec: {updateStrategy: {rollingUpdate: {partition: 50%}}}\nstatus: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 1, numberAvailable: 3}", "Progressing"},
		"subsets held back":          {"apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {generation: 1}\nspec: {replicas: 4, updateStrategy: {manualUpdate: {partitions: {b: 2}}}}\nstatus: {observedGeneration: 1, replicas: 4, updatedReplicas: 2, readyReplicas: 4, subsetStatuses: [{name: a, replicas: 2}, {name: b, replicas: 2}]}", "Healthy"},
		"a subset fails":             {"apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {generation: 1}\nspec: {replicas: 4}\nstatus: {observedGeneration: 1, replicas: 2, conditions: [{type: SubsetProvisioned, status: 'False', message: no}]}", "Degraded"},
		"a job with failures":        {"apiVersion: apps.kruise.io/v1beta1\nkind: BroadcastJob\nspec: {}\nstatus: {phase: completed, desired: 2, succeeded: 1, failed: 1}", "Degraded"},
		"a job that never ends":      {"apiVersion: apps.kruise.io/v1beta1\nkind: BroadcastJob\nspec: {completionPolicy: {type: Never}}\nstatus: {phase: running, desired: 2, succeeded: 2}", "Healthy"},
		"a job that waits":           {"apiVersion: apps.kruise.io/v1beta1\nkind: BroadcastJob\nspec: {}\nstatus: {phase: paused, desired: 2}", "Suspended"},
		"a paused cron job":          {"apiVersion: apps.kruise.io/v1beta1\nkind: AdvancedCronJob\nspec: {paused: true}", "Suspended"},
		"a pull with a failed node":  {"apiVersion: apps.kruise.io/v1beta1\nkind: ImagePullJob\nspec: {}\nstatus: {desired: 2, succeeded: 1, failed: 1, completionTime: x}", "Degraded"},
		"images on their way":        {"apiVersion: apps.kruise.io/v1beta1\nkind: ImageListPullJob\nspec: {}\nstatus: {desired: 2, completed: 1}", "Progressing"},
		"Completed, but not well":    {"apiVersion: apps.kruise.io/v1alpha1\nkind: ContainerRecreateRequest\nspec: {containers: [{name: a}, {name: b}]}\nstatus: {phase: Completed, containerRecreateStates: [{name: a, phase: Succeeded}, {name: b, phase: Failed}]}", "Degraded"},
		"a request that went well":   {"apiVersion: apps.kruise.io/v1alpha1\nkind: ContainerRecreateRequest\nspec: {containers: [{name: a}]}\nstatus: {phase: Completed, containerRecreateStates: [{name: a, phase: Succeeded}]}", "Healthy"},
		"an EphemeralJob":            {"apiVersion: apps.kruise.io/v1beta1\nkind: EphemeralJob\nspec: {}\nstatus: {phase: Failed, match: 1}", "Degraded"},
		"a conflict":                 {"apiVersion: apps.kruise.io/v1beta1\nkind: ResourceDistribution\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, desired: 2, succeeded: 1, conditions: [{type: ConflictOccurred, status: 'True', failedNamespaces: [a]}]}", "Degraded"},
		"a budget without its pods":  {"apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, currentAvailable: 0, desiredAvailable: 2}", "Healthy"},
		"a budget not yet seen":      {"apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {generation: 2}\nstatus: {observedGeneration: 1}", "Progressing"},
		"a SidecarSet, pods broken":  {"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {generation: 1}\nspec: {}\nstatus: {observedGeneration: 1, matchedPods: 3, updatedPods: 3, readyPods: 1}", "Healthy"},
		"a SidecarSet on its way":    {"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {generation: 1}\nspec: {}\nstatus: {observedGeneration: 1, matchedPods: 3, updatedPods: 2, readyPods: 3}", "Progressing"},
		"a subset without room":      {"apiVersion: apps.kruise.io/v1beta1\nkind: WorkloadSpread\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, subsetStatuses: [{name: a, conditions: [{type: Schedulable, status: 'False'}]}]}", "Healthy"},
		"states of pods":             {"apiVersion: apps.kruise.io/v1alpha1\nkind: PersistentPodState\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1}", "Healthy"},
		"probes":                     {"apiVersion: apps.kruise.io/v1alpha1\nkind: PodProbeMarker\nmetadata: {generation: 2}\nstatus: {observedGeneration: 1}", "Progressing"},
		"a node that fails":          {"apiVersion: apps.kruise.io/v1beta1\nkind: NodeImage\nstatus: {desired: 1, failed: 1}", "Degraded"},
		"a SidecarSet's canary pods": {"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {generation: 1}\nspec: {updateStrategy: {selector: {matchLabels: {a: b}}}}\nstatus: {observedGeneration: 1, matchedPods: 3, updatedPods: 1, readyPods: 3}", "Healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			if h := ours(t, object(t, c.object)); string(h.Status) != c.want {
				t.Errorf("%s (%s), want %s", h.Status, h.Message, c.want)
			}
		})
	}
}
