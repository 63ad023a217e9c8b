package kruise

// since are v1alpha1 and v1beta1 with the releases that brought them.
func since(alpha, beta string) []Served { return []Served{{V1alpha1, alpha}, {V1beta1, beta}} }

// descriptors are all kinds of Kruise, in alphabetical order: all properties of a kind as a whole
// are here. A kind without rows of fields has the same fields in both versions
// (docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/sidecarset.md#v1alpha1-and-v1beta1 and
// docs/kruise/protection.md#podunavailablebudget, docs/kruise/distribution.md#in-two-versions).
// The scopes are those of docs/kruise/sidecarset.md#which-pods-match,
// docs/kruise/distribution.md#resourcedistribution and docs/kruise/jobs.md#image-pulls.
var descriptors = []*descriptor{
	describe[AdvancedCronJob](Registered{
		Group: Group, Kind: KindAdvancedCronJob, ShortNames: []string{"acj"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{"CronJob"},
	},
		refused{"spec.template.imageListPullJobTemplate"},
	),
	describe[BroadcastJob](Registered{
		Group: Group, Kind: KindBroadcastJob, ShortNames: []string{"bcj"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet, "Job"},
	}),
	describe[CloneSet](Registered{
		Group: Group, Kind: KindCloneSet, ShortNames: []string{"clone"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDeployment, KindReplicaSet, "Service", KindStatefulSet},
	}, cloneSetFields...),
	describe[ContainerRecreateRequest](Registered{
		Group: Group, Kind: KindContainerRecreateRequest, ShortNames: []string{"crr"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionSteps,
	}, containerRecreateFields...),
	describe[DaemonSet](Registered{
		Group: Group, Kind: KindDaemonSet, ShortNames: []string{"daemon", "ads"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet},
	}, daemonSetFields...),
	describe[EphemeralJob](Registered{
		Group: Group, Kind: KindEphemeralJob, ShortNames: []string{"ejob"}, Served: []Served{{V1alpha1, "v1.0"}},
		Expansion: ExpansionSteps,
	}),
	describe[ImageListPullJob](Registered{
		Group: Group, Kind: KindImageListPullJob, Aliases: []string{"ilpj"}, Served: since("v1.5", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet, "Job"},
	}),
	describe[ImagePullJob](Registered{
		Group: Group, Kind: KindImagePullJob, Aliases: []string{"ipj"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet, "Job"},
	}),
	describe[NodeImage](Registered{
		Group: Group, Kind: KindNodeImage, ClusterScoped: true, Served: since("v1.0", "v1.9"),
	},
		added{"spec.images{}.pullSecrets[]", "mode"},
	),
	describe[NodePodProbe](Registered{
		Group: Group, Kind: KindNodePodProbe, ClusterScoped: true, Served: []Served{{V1alpha1, "v1.3"}},
	}),
	describe[PersistentPodState](Registered{
		Group: Group, Kind: KindPersistentPodState, Served: since("v1.2", Unreleased),
		Expansion: ExpansionMerged, ExpandsTo: []string{"ConfigMap", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	},
		moved{"spec.requiredPersistentTopology", "nodeTopologyKeys", "keys"},
		moved{"spec.preferredPersistentTopology[].preference", "nodeTopologyKeys", "keys"},
	),
	describe[PodProbeMarker](Registered{
		Group: Group, Kind: KindPodProbeMarker, Served: []Served{{V1alpha1, "v1.3"}},
		Expansion: ExpansionDropped,
	}),
	describe[PodUnavailableBudget](Registered{
		Group: PolicyGroup, Kind: KindPodUnavailableBudget, ShortNames: []string{"pub"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{"PodDisruptionBudget"},
	},
		annotated{annotation: ProtectOperationsAnnotation, field: "spec.protectOperations", as: commaList},
		annotated{annotation: ProtectTotalReplicasAnnotation, field: "spec.protectTotalReplicas", as: number},
		added{"spec", "ignoredPodSelector"},
	),
	describe[ResourceDistribution](Registered{
		Group: Group, Kind: KindResourceDistribution, ClusterScoped: true, ShortNames: []string{"distributor"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{"ConfigMap", "Secret"},
	},
		moved{"spec.targets", "namespaceLabelSelector", "namespaceSelector"},
		moved{"status.conditions[]", "failedNamespace", "failedNamespaces"},
	),
	describe[SidecarSet](Registered{
		Group: Group, Kind: KindSidecarSet, ClusterScoped: true, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionMerged, ExpandsTo: []string{"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	}, sidecarSetFields...),
	describe[StatefulSet](Registered{
		Group: Group, Kind: KindStatefulSet, ShortNames: []string{"sts", "asts"}, Served: since("v1.0", "v1.0"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindStatefulSet},
	},
		added{"spec", "lifecycle"},
		added{"spec", "ordinals"},
		added{"spec", "persistentVolumeClaimRetentionPolicy"},
		added{"spec", "reserveOrdinals"},
		added{"spec", "scaleStrategy"},
		added{"spec", "volumeClaimUpdateStrategy"},
		added{"status", "updatedAvailableReplicas"},
		added{"status", "updatedReadyReplicas"},
		added{"status", "volumeClaims"},
	),
	describe[UnitedDeployment](Registered{
		Group: Group, Kind: KindUnitedDeployment, ShortNames: []string{"ud"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDeployment, KindReplicaSet, "Service", KindStatefulSet},
	}, unitedDeploymentFields...),
	describe[WorkloadSpread](Registered{
		Group: Group, Kind: KindWorkloadSpread, ShortNames: []string{"ws"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionMerged, ExpandsTo: []string{"HorizontalPodAutoscaler"},
	},
		moved{"spec.subsets[]", "requiredNodeSelectorTerm", "requiredNodeSelector"},
		moved{"spec.subsets[]", "preferredNodeSelectorTerms", "preferredNodeSelector"},
		added{"status.subsetStatuses[].conditions[]", "observedGeneration"},
		added{"status.versionedSubsetStatuses{}[].conditions[]", "observedGeneration"},
	),
}
