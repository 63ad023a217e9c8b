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
	{Flag: "selector", Short: "l", Path: "spec.selector", Shape: Selector, Help: "label selector of the pods"},
	{Flag: "namespace-selector", Path: "spec.namespaceSelector", Shape: Selector, Help: "label selector of the namespaces (default: all)"},
	{Flag: "container", Path: "spec.containers", Shape: Containers, Help: "sidecar to inject, NAME=IMAGE; can be repeated"},
	{Flag: "init-container", Path: "spec.initContainers", Shape: Containers, Help: "init container to inject, NAME=IMAGE; can be repeated"},
	{Flag: "inject-policy", Path: "spec.containers.*.podInjectPolicy", Shape: Text, Help: "position relative to the pod's own containers", Legal: sides},
	{Flag: "upgrade-type", Path: "spec.containers.*.upgradeStrategy.upgradeType", Shape: Text, Help: "upgrade type of the sidecar", Legal: upgrades},
	{Flag: "hot-upgrade-empty-image", Path: "spec.containers.*.upgradeStrategy.hotUpgradeEmptyImage", Shape: Text, Help: "image of the idle container of a hot-upgraded pair"},
	{Flag: "share-volume", Path: "spec.containers.*.shareVolumePolicy.type", Shape: Text, Help: "whether sidecars share the volume mounts of the pod's own containers", Legal: shares},
	{Flag: "share-volume-devices", Path: "spec.containers.*.shareVolumeDevicePolicy.type", Shape: Text, Help: "whether sidecars share the volume devices of the pod's own containers", Legal: shares},
	{Flag: "image-pull-policy", Path: "spec.containers.*.imagePullPolicy", Shape: Text, Help: "pull policy of the sidecars' images", Legal: []string{"Always", "IfNotPresent", "Never"}},
	{Flag: "pull-secret", Path: "spec.imagePullSecrets", Shape: Names, Help: "Secrets for pulling images, in the namespaces of the pods"},
	{Flag: "update-strategy", Path: "spec.updateStrategy.type", Shape: Text, Help: "update strategy for pods that already have the sidecars", Legal: updates},
	{Flag: "paused", Path: "spec.updateStrategy.paused", Shape: Truth, Help: "pause updates: pods keep their sidecars"},
	{Flag: "update-selector", Path: "spec.updateStrategy.selector", Shape: Selector, Help: "label selector of pods to update"},
	{Flag: "partition", Path: "spec.updateStrategy.partition", Shape: Amount, Help: "number or percentage of pods that stay at the old revision"},
	{Flag: "max-unavailable", Path: "spec.updateStrategy.maxUnavailable", Shape: Amount, Help: "number or percentage of pods that may be unavailable (default 1)"},
	{Flag: "scatter", Path: "spec.updateStrategy.scatterStrategy", Shape: Terms, Help: "labels of pods that are spread over the update"},
	{Flag: "injection-paused", Path: "spec.injectionStrategy.paused", Shape: Truth, Help: "pause injection: new pods get no sidecar"},
	{Flag: "injection-version", Path: "spec.injectionStrategy.revision.customVersion", Shape: Text, Help: "custom version that new pods get"},
	{Flag: "injection-revision", Path: "spec.injectionStrategy.revision.revisionName", Shape: Text, Help: "stored revision that new pods get"},
	{Flag: "injection-policy", Path: "spec.injectionStrategy.revision.policy", Shape: Text, Help: "which pods get the fixed revision", Legal: revisions},
	{Flag: "patch-annotations", Path: "spec.patchPodMetadata[0].annotations", Shape: Pairs, Help: "annotations to add to pods"},
	{Flag: "patch-policy", Path: "spec.patchPodMetadata[0].patchPolicy", Shape: Text, Help: "action for annotations that already exist", Legal: patchPolicies},
	{Flag: "revision-history-limit", Path: "spec.revisionHistoryLimit", Shape: Number, Help: "number of old revisions to keep (default 10)"},
	{Flag: "custom-version", Path: "spec.customVersion", Shape: Text, Help: "name of this revision"},
}

func newSidecarSet(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "sidecarset NAME --selector SELECTOR --container NAME=IMAGE",
		Aliases: []string{kruise.KindSidecarSet, "sidecarSet", "sidecarsets"},
		Short:   "Create a SidecarSet: inject containers into pods",
		Example: `  # a log agent for all pods of an app
  kubectl kruise create sidecarset logs --selector app=web --container agent=registry.example.com/agent:1

  # one that is upgraded without downtime
  kubectl kruise create sidecarset proxy -l mesh=on --container proxy=registry.example.com/proxy:1 \
    --upgrade-type HotUpgrade --hot-upgrade-empty-image registry.example.com/empty:1 \
    --set 'spec.containers[0].lifecycle.postStart.exec.command=[/bin/sh, -c, /migrate.sh]'`,
	}
	newForm(f, c, kruise.KindSidecarSet, &kruise.SidecarSet{}, sidecarFields)
	return c
}
