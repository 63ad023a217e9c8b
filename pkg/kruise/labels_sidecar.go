package kruise

// SidecarSet (docs/kruise/sidecarset.md#names, docs/kruise/sidecarset.md#which-pods-match and
// docs/kruise/sidecarset.md#annotations).
const (
	// SidecarSetHashAnnotation is on injected pods (JSON by set) and on the
	// SidecarSet (the bare hash).
	SidecarSetHashAnnotation = "kruise.io/sidecarset-hash"
	// SidecarSetHashWithoutImageAnnotation is the same with images left out.
	SidecarSetHashWithoutImageAnnotation = "kruise.io/sidecarset-hash-without-image"
	// SidecarSetInjectedListAnnotation names the injected sets, with commas.
	SidecarSetInjectedListAnnotation = "kruise.io/sidecarset-injected-list"
	// SidecarSetInPlaceUpdateStateAnnotation records updates of sidecars.
	SidecarSetInPlaceUpdateStateAnnotation = "kruise.io/sidecarset-inplace-update-state"
	// SidecarSetWorkingHotUpgradeAnnotation maps a hot-upgrade sidecar to the
	// one of its two containers that works (JSON).
	SidecarSetWorkingHotUpgradeAnnotation = "kruise.io/sidecarset-working-hotupgrade-container"
	// SidecarSetVersionAnnotationPrefix and the container's name give the
	// version that it runs, SidecarSetVersionAltAnnotationPrefix that of the
	// other one.
	SidecarSetVersionAnnotationPrefix    = "version.sidecarset.kruise.io/"
	SidecarSetVersionAltAnnotationPrefix = "versionalt.sidecarset.kruise.io/"

	// SidecarInjectedEnv, "true", is in every injected container.
	SidecarInjectedEnv = "IS_INJECTED"
	// SidecarSetVersionEnv and SidecarSetVersionAltEnv read the version
	// annotations.
	SidecarSetVersionEnv    = "SIDECARSET_VERSION"
	SidecarSetVersionAltEnv = "SIDECARSET_VERSION_ALT"

	// SidecarSetUpgradable is the pod condition that tells whether all
	// sidecars could be upgraded in place.
	SidecarSetUpgradable = "SidecarSetUpgradable"

	// SidecarTerminated is the pod condition with which the SidecarTerminator
	// declares a pod ended before its sidecars are (docs/kruise/protection.md#other-features).
	SidecarTerminated = "SidecarTerminated"

	// SidecarSetNameLabel and SidecarSetCustomVersionLabel are on revisions;
	// the latter on a v1alpha1 SidecarSet is spec.customVersion of v1beta1.
	SidecarSetNameLabel          = "kruise.io/sidecarset-name"
	SidecarSetCustomVersionLabel = "apps.kruise.io/sidecarset-custom-version"

	// SidecarSetCanaryAnnotation, "true", makes a SidecarSet the canary of the
	// one that SidecarSetBaseAnnotation names.
	SidecarSetCanaryAnnotation = "apps.kruise.io/sidecarset-canary"
	SidecarSetBaseAnnotation   = "apps.kruise.io/sidecarset-base"

	// OutsideLabel on a Namespace keeps Kruise's pod webhook away, whatever its value
	// (docs/kruise/sidecarset.md#which-pods-match).
	OutsideLabel = "control-plane"

	// NamespaceNameLabel is on every namespace, by Kubernetes.
	NamespaceNameLabel = "kubernetes.io/metadata.name"

	// ConfigurationName is the ConfigMap in Kruise's own namespace that holds
	// whitelists, SidecarSetPatchPodMetadataWhiteListKey its key for
	// patchPodMetadata.
	ConfigurationName                      = "kruise-configuration"
	SidecarSetPatchPodMetadataWhiteListKey = "SidecarSet_PatchPodMetadata_WhiteList"
	// DefaultNamespace is where Kruise runs unless installed elsewhere.
	DefaultNamespace = "kruise-system"

	// ManagerSelector finds the Deployment of Kruise's controllers there.
	ManagerSelector = "control-plane=controller-manager"
)
