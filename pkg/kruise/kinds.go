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
	describe(Registered{
		Group: Group, Kind: KindAdvancedCronJob, ShortNames: []string{"acj"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{"CronJob"},
	}, rows[AdvancedCronJob]{
		fields: []field{
			refused{"spec.template.imageListPullJobTemplate"},
		},
		defaults: func(o *AdvancedCronJob) { defaultAdvancedCronJob(&o.Spec) },
		stored:   func(o *AdvancedCronJob) { defaultCronTemplates(&o.Spec.Template) },
	}),
	describe(Registered{
		Group: Group, Kind: KindBroadcastJob, ShortNames: []string{"bcj"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet, "Job"},
	}, rows[BroadcastJob]{
		defaults: func(o *BroadcastJob) { defaultBroadcastJob(&o.Spec) },
		stored:   func(o *BroadcastJob) { DefaultTemplate(&o.Spec.Template) },
	}),
	describe(Registered{
		Group: Group, Kind: KindCloneSet, ShortNames: []string{"clone"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDeployment, KindReplicaSet, "Service", KindStatefulSet},
	}, rows[CloneSet]{
		fields:   cloneSetFields,
		defaults: func(o *CloneSet) { defaultCloneSet(&o.Spec) },
		stored: func(o *CloneSet) {
			DefaultTemplate(&o.Spec.Template)
			defaultClaims(o.Spec.VolumeClaimTemplates)
		},
	}),
	describe(Registered{
		Group: Group, Kind: KindContainerRecreateRequest, ShortNames: []string{"crr"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionSteps,
	}, rows[ContainerRecreateRequest]{
		fields:   containerRecreateFields,
		defaults: func(o *ContainerRecreateRequest) { defaultContainerRecreateRequest(&o.Spec) },
	}),
	describe(Registered{
		Group: Group, Kind: KindDaemonSet, ShortNames: []string{"daemon", "ads"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet},
	}, rows[DaemonSet]{
		fields:   daemonSetFields,
		defaults: func(o *DaemonSet) { defaultDaemonSet(&o.Spec) },
	}),
	describe(Registered{
		Group: Group, Kind: KindEphemeralJob, ShortNames: []string{"ejob"}, Served: []Served{{V1alpha1, "v1.0"}},
		Expansion: ExpansionSteps,
	}, rows[EphemeralJob]{}),
	describe(Registered{
		Group: Group, Kind: KindImageListPullJob, Aliases: []string{"ilpj"}, Served: since("v1.5", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet, "Job"},
	}, rows[ImageListPullJob]{
		defaults: func(o *ImageListPullJob) { defaultImagePull(&o.Spec.ImagePullJobTemplate) },
	}),
	describe(Registered{
		Group: Group, Kind: KindImagePullJob, Aliases: []string{"ipj"}, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDaemonSet, "Job"},
	}, rows[ImagePullJob]{
		defaults: func(o *ImagePullJob) {
			defaultImagePull(&o.Spec.ImagePullJobTemplate)
			setText(&o.Spec.ImagePullPolicy, PullIfNotPresent)
		},
	}),
	describe(Registered{
		Group: Group, Kind: KindNodeImage, ClusterScoped: true, Served: since("v1.0", "v1.9"),
	}, rows[NodeImage]{
		fields: []field{
			added{"spec.images{}.pullSecrets[]", "mode"},
		},
		defaults: func(o *NodeImage) { defaultNodeImage(&o.Spec) },
	}),
	describe(Registered{
		Group: Group, Kind: KindNodePodProbe, ClusterScoped: true, Served: []Served{{V1alpha1, "v1.3"}},
	}, rows[NodePodProbe]{}),
	describe(Registered{
		Group: Group, Kind: KindPersistentPodState, Served: since("v1.2", Unreleased),
		Expansion: ExpansionMerged, ExpandsTo: []string{"ConfigMap", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	}, rows[PersistentPodState]{
		fields: []field{
			moved{"spec.requiredPersistentTopology", "nodeTopologyKeys", "keys"},
			moved{"spec.preferredPersistentTopology[].preference", "nodeTopologyKeys", "keys"},
		},
	}),
	describe(Registered{
		Group: Group, Kind: KindPodProbeMarker, Served: []Served{{V1alpha1, "v1.3"}},
		Expansion: ExpansionDropped,
	}, rows[PodProbeMarker]{}),
	describe(Registered{
		Group: PolicyGroup, Kind: KindPodUnavailableBudget, ShortNames: []string{"pub"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{"PodDisruptionBudget"},
	}, rows[PodUnavailableBudget]{
		fields: []field{
			annotated{annotation: ProtectOperationsAnnotation, field: "spec.protectOperations", parse: commaList},
			annotated{annotation: ProtectTotalReplicasAnnotation, field: "spec.protectTotalReplicas", parse: number},
			added{"spec", "ignoredPodSelector"},
		},
	}),
	describe(Registered{
		Group: Group, Kind: KindResourceDistribution, ClusterScoped: true, ShortNames: []string{"distributor"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{"ConfigMap", "Secret"},
	}, rows[ResourceDistribution]{
		fields: []field{
			moved{"spec.targets", "namespaceLabelSelector", "namespaceSelector"},
			moved{"status.conditions[]", "failedNamespace", "failedNamespaces"},
		},
	}),
	describe(Registered{
		Group: Group, Kind: KindSidecarSet, ClusterScoped: true, Served: since("v1.0", "v1.9"),
		Expansion: ExpansionMerged, ExpandsTo: []string{"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	}, rows[SidecarSet]{
		fields:   sidecarSetFields,
		defaults: func(o *SidecarSet) { defaultSidecarSet(&o.Spec) },
		stored:   func(o *SidecarSet) { defaultSidecars(&o.Spec) },
	}),
	describe(Registered{
		Group: Group, Kind: KindStatefulSet, ShortNames: []string{"sts", "asts"}, Served: since("v1.0", "v1.0"),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindStatefulSet},
	}, rows[StatefulSet]{
		fields: []field{
			added{"spec", "lifecycle"},
			added{"spec", "ordinals"},
			added{"spec", "persistentVolumeClaimRetentionPolicy"},
			added{"spec", "reserveOrdinals"},
			added{"spec", "scaleStrategy"},
			added{"spec", "volumeClaimUpdateStrategy"},
			added{"status", "updatedAvailableReplicas"},
			added{"status", "updatedReadyReplicas"},
			added{"status", "volumeClaims"},
		},
		defaults: func(o *StatefulSet) { defaultStatefulSet(&o.Spec) },
		stored: func(o *StatefulSet) {
			DefaultTemplate(&o.Spec.Template)
			defaultClaims(o.Spec.VolumeClaimTemplates)
		},
	}),
	describe(Registered{
		Group: Group, Kind: KindUnitedDeployment, ShortNames: []string{"ud"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionObjects, ExpandsTo: []string{KindDeployment, KindReplicaSet, "Service", KindStatefulSet},
	}, rows[UnitedDeployment]{
		fields:   unitedDeploymentFields,
		defaults: func(o *UnitedDeployment) { defaultUnitedDeployment(&o.Spec) },
		stored:   func(o *UnitedDeployment) { defaultSubsetTemplate(&o.Spec.Template) },
	}),
	describe(Registered{
		Group: Group, Kind: KindWorkloadSpread, ShortNames: []string{"ws"}, Served: since("v1.0", Unreleased),
		Expansion: ExpansionMerged, ExpandsTo: []string{"HorizontalPodAutoscaler"},
	}, rows[WorkloadSpread]{
		fields: []field{
			moved{"spec.subsets[]", "requiredNodeSelectorTerm", "requiredNodeSelector"},
			moved{"spec.subsets[]", "preferredNodeSelectorTerms", "preferredNodeSelector"},
			added{"status.subsetStatuses[].conditions[]", "observedGeneration"},
			added{"status.versionedSubsetStatuses{}[].conditions[]", "observedGeneration"},
		},
	}),
}
