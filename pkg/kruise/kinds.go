package kruise

var both = []string{V1alpha1, V1beta1}

// kinds is the table of what the two versions spell differently (semantics
// workloads 0.2, sidecarset-and-protection 4.1 and 6, fanout-and-jobs 10). A
// kind without rows has the same fields in both.
var kinds = index(
	&kind{group: Group, name: "AdvancedCronJob", versions: both, fields: []field{
		refused{"spec.template.imageListPullJobTemplate"},
	}},
	&kind{group: Group, name: "BroadcastJob", versions: both},
	&kind{group: Group, name: "CloneSet", versions: both, fields: cloneSetFields},
	&kind{group: Group, name: "ContainerRecreateRequest", versions: both, fields: containerRecreateFields},
	&kind{group: Group, name: "DaemonSet", versions: both, fields: daemonSetFields},
	&kind{group: Group, name: "EphemeralJob", versions: []string{V1alpha1}},
	&kind{group: Group, name: "ImageListPullJob", versions: both},
	&kind{group: Group, name: "ImagePullJob", versions: both},
	&kind{group: Group, name: "NodeImage", versions: both, fields: []field{
		added{"spec.images{}.pullSecrets[]", "mode"},
	}},
	&kind{group: Group, name: "NodePodProbe", versions: []string{V1alpha1}},
	&kind{group: Group, name: "PersistentPodState", versions: both, fields: []field{
		moved{"spec.requiredPersistentTopology", "nodeTopologyKeys", "keys"},
		moved{"spec.preferredPersistentTopology[].preference", "nodeTopologyKeys", "keys"},
	}},
	&kind{group: Group, name: "PodProbeMarker", versions: []string{V1alpha1}},
	&kind{group: Group, name: "ResourceDistribution", versions: both, fields: []field{
		moved{"spec.targets", "namespaceLabelSelector", "namespaceSelector"},
		moved{"status.conditions[]", "failedNamespace", "failedNamespaces"},
	}},
	&kind{group: Group, name: "SidecarSet", versions: both, fields: sidecarSetFields},
	&kind{group: Group, name: "StatefulSet", versions: both, fields: []field{
		added{"spec", "lifecycle"},
		added{"spec", "ordinals"},
		added{"spec", "persistentVolumeClaimRetentionPolicy"},
		added{"spec", "reserveOrdinals"},
		added{"spec", "scaleStrategy"},
		added{"spec", "volumeClaimUpdateStrategy"},
		added{"status", "updatedAvailableReplicas"},
		added{"status", "updatedReadyReplicas"},
		added{"status", "volumeClaims"},
	}},
	&kind{group: Group, name: "UnitedDeployment", versions: both, fields: unitedDeploymentFields},
	&kind{group: Group, name: "WorkloadSpread", versions: both, fields: []field{
		moved{"spec.subsets[]", "requiredNodeSelectorTerm", "requiredNodeSelector"},
		moved{"spec.subsets[]", "preferredNodeSelectorTerms", "preferredNodeSelector"},
		added{"status.subsetStatuses[].conditions[]", "observedGeneration"},
		added{"status.versionedSubsetStatuses{}[].conditions[]", "observedGeneration"},
	}},
	&kind{group: PolicyGroup, name: "PodUnavailableBudget", versions: both, fields: []field{
		annotated{annotation: ProtectOperationsAnnotation, field: "spec.protectOperations", parse: commaList},
		annotated{annotation: ProtectTotalReplicasAnnotation, field: "spec.protectTotalReplicas", parse: number},
		added{"spec", "ignoredPodSelector"},
	}},
)

func index(all ...*kind) map[string]*kind {
	m := make(map[string]*kind, len(all))
	for _, k := range all {
		m[k.group+"/"+k.name] = k
	}
	return m
}
