package create

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Words of a SidecarSet's fields.
var (
	sides         = []string{string(kruise.BeforeAppContainerType), string(kruise.AfterAppContainerType)}
	upgrades      = []string{string(kruise.SidecarContainerColdUpgrade), string(kruise.SidecarContainerHotUpgrade)}
	shares        = []string{string(kruise.ShareVolumePolicyEnabled), string(kruise.ShareVolumePolicyDisabled)}
	updates       = []string{string(kruise.RollingUpdateSidecarSetStrategyType), string(kruise.NotUpdateSidecarSetStrategyType)}
	patchPolicies = []string{string(kruise.SidecarSetRetainPatchPolicy), string(kruise.SidecarSetOverwritePatchPolicy), string(kruise.SidecarSetMergePatchJSONPatchPolicy)}
	revisions     = []string{string(kruise.AlwaysSidecarSetInjectRevisionPolicy), string(kruise.PartialSidecarSetInjectRevisionPolicy)}
)

// sidecarFields: what belongs to a container goes to all that --container names.
var sidecarFields = []Field{
	{Flag: "selector", Short: "l", Path: "spec.selector", Shape: Selector, Help: "the pods by labels"},
	{Flag: "namespace-selector", Path: "spec.namespaceSelector", Shape: Selector, Help: "the namespaces by labels; all by default"},
	{Flag: "container", Path: "spec.containers", Shape: Containers, Help: "a sidecar by name with its image, again for more"},
	{Flag: "init-container", Path: "spec.initContainers", Shape: Containers, Help: "an init container by name with its image, again for more"},
	{Flag: "inject-policy", Path: "spec.containers.*.podInjectPolicy", Shape: Text, Help: "on which side of the pod's own containers", Legal: sides},
	{Flag: "upgrade-type", Path: "spec.containers.*.upgradeStrategy.upgradeType", Shape: Text, Help: "how a sidecar gets a new image", Legal: upgrades},
	{Flag: "hot-upgrade-empty-image", Path: "spec.containers.*.upgradeStrategy.hotUpgradeEmptyImage", Shape: Text, Help: "what the idle one of a hot-upgraded pair runs"},
	{Flag: "share-volume", Path: "spec.containers.*.shareVolumePolicy.type", Shape: Text, Help: "whether a sidecar gets the mounts of the pod's own containers", Legal: shares},
	{Flag: "share-volume-devices", Path: "spec.containers.*.shareVolumeDevicePolicy.type", Shape: Text, Help: "the same for block devices", Legal: shares},
	{Flag: "image-pull-policy", Path: "spec.containers.*.imagePullPolicy", Shape: Text, Help: "when the sidecars' images are pulled", Legal: []string{"Always", "IfNotPresent", "Never"}},
	{Flag: "image-pull-secrets", Path: "spec.imagePullSecrets", Shape: Names, Help: "Secrets for the registry, in the namespaces of the pods"},
	{Flag: "update-strategy", Path: "spec.updateStrategy.type", Shape: Text, Help: "whether pods that have sidecars follow", Legal: updates},
	{Flag: "paused", Path: "spec.updateStrategy.paused", Shape: Truth, Help: "no pod follows for now"},
	{Flag: "update-selector", Path: "spec.updateStrategy.selector", Shape: Selector, Help: "only these pods follow"},
	{Flag: "partition", Path: "spec.updateStrategy.partition", Shape: Amount, Help: "how many pods stay old"},
	{Flag: "max-unavailable", Path: "spec.updateStrategy.maxUnavailable", Shape: Amount, Help: "how many pods may be unavailable; 1 by default"},
	{Flag: "scatter", Path: "spec.updateStrategy.scatterStrategy", Shape: Terms, Help: "pods with these labels follow spread over the update"},
	{Flag: "injection-paused", Path: "spec.injectionStrategy.paused", Shape: Truth, Help: "new pods get no sidecar for now"},
	{Flag: "injection-version", Path: "spec.injectionStrategy.revision.customVersion", Shape: Text, Help: "new pods get this version"},
	{Flag: "injection-revision", Path: "spec.injectionStrategy.revision.revisionName", Shape: Text, Help: "new pods get this stored revision"},
	{Flag: "injection-policy", Path: "spec.injectionStrategy.revision.policy", Shape: Text, Help: "for which pods the revision is fixed", Legal: revisions},
	{Flag: "patch-annotations", Path: "spec.patchPodMetadata[0].annotations", Shape: Pairs, Help: "annotations that pods get"},
	{Flag: "patch-policy", Path: "spec.patchPodMetadata[0].patchPolicy", Shape: Text, Help: "what happens to those that exist", Legal: patchPolicies},
	{Flag: "revision-history-limit", Path: "spec.revisionHistoryLimit", Shape: Number, Help: "how many old revisions are kept; 10 by default"},
	{Flag: "custom-version", Path: "spec.customVersion", Shape: Text, Help: "a name for this revision"},
}

func newSidecarSet(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "sidecarset NAME --selector SELECTOR --container NAME=IMAGE",
		Aliases: []string{kruise.KindSidecarSet, "sidecarSet", "sidecarsets"},
		Short:   "Create a SidecarSet: inject containers into pods",
		Example: `  # a log agent for all pods of an app
  kubectl kruise create sidecarset logs --selector app=web --container agent=registry.example.com/agent:1

  # one that is upgraded without a gap
  kubectl kruise create sidecarset proxy -l mesh=on --container proxy=registry.example.com/proxy:1 \
    --upgrade-type HotUpgrade --hot-upgrade-empty-image registry.example.com/empty:1 \
    --set 'spec.containers[0].lifecycle.postStart.exec.command=[/bin/sh, -c, /migrate.sh]'`,
	}
	newForm(f, c, kruise.KindSidecarSet, func() any { return &kruise.SidecarSet{} }, sidecarFields)
	return c
}
