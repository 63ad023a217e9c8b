package create

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// completionPolicies are the words for when a job of Kruise ends.
var completionPolicies = []string{string(kruise.AlwaysCompletionPolicyType), string(kruise.NeverCompletionPolicyType)}

// pullFields are those that both kinds of pull jobs have.
var pullFields = []Field{
	{Flag: "pull-secret", Path: "spec.pullSecrets", Shape: Texts, Help: "Secrets for pulling images, in the namespace of the job"},
	{Flag: "node", Path: "spec.selector.names", Shape: Texts, Help: "names of the nodes"},
	{Flag: "node-selector", Path: "spec.selector", Shape: Selector, Help: "label selector of the nodes"},
	{Flag: "pod-selector", Path: "spec.podSelector", Shape: Selector, Help: "label selector of pods whose nodes pull"},
	{Flag: "parallelism", Path: "spec.parallelism", Shape: Amount, Help: "number of nodes that pull at the same time (default 1)"},
	{Flag: "timeout-seconds", Path: "spec.pullPolicy.timeoutSeconds", Shape: Number, Help: "timeout of one pull in seconds (default 600)"},
	{Flag: "backoff-limit", Path: "spec.pullPolicy.backoffLimit", Shape: Number, Help: "number of retries of a pull (default 3)"},
	{Flag: "completion-policy", Path: "spec.completionPolicy.type", Shape: Text, Default: completionPolicies[0], Help: "completion policy; with Never the job also runs on nodes that join later", Legal: completionPolicies},
	{Flag: "active-deadline-seconds", Path: "spec.completionPolicy.activeDeadlineSeconds", Shape: Number, Help: "deadline of the job in seconds"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.completionPolicy.ttlSecondsAfterFinished", Shape: Number, Help: "seconds until the finished job is deleted"},
	{Flag: "sandbox-labels", Path: "spec.sandboxConfig.labels", Shape: Pairs, Help: "labels for the container runtime"},
	{Flag: "sandbox-annotations", Path: "spec.sandboxConfig.annotations", Shape: Pairs, Help: "annotations for the container runtime"},
	{Flag: "image-pull-policy", Path: "spec.imagePullPolicy", Shape: Text, Help: "pull policy for an image that the node already has", Legal: []string{string(kruise.PullAlways), string(kruise.PullIfNotPresent)}},
}

// aliasesOf are the short names that this program gives to a kind.
func aliasesOf(kind string) []string {
	k, _ := kruise.Lookup(kruise.Group, kind)
	return slices.Clone(k.Aliases)
}

func newImagePullJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "imagepulljob NAME --image IMAGE",
		Aliases: append(aliasesOf(kruise.KindImagePullJob), kruise.KindImagePullJob, "imagePullJob", "imagepulljobs"),
		Short:   "Create an ImagePullJob: pull an image on nodes",
		Example: `  # onto the nodes of a pool, 5 at a time
  kubectl kruise create imagepulljob warm --image registry.example.com/web:2 --node-selector pool=gpu --parallelism 5 --ttl-seconds-after-finished 600`,
	}
	image := Field{Flag: "image", Path: "spec.image", Shape: Text, Help: "image to pull"}
	newForm(f, c, kruise.KindImagePullJob, &kruise.ImagePullJob{}, append([]Field{image}, pullFields...))
	return c
}

func newImageListPullJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "imagelistpulljob NAME (--images A,B | --from acj/NAME)",
		Aliases: append(aliasesOf(kruise.KindImageListPullJob), kruise.KindImageListPullJob, "imageListPullJob", "imagelistpulljobs"),
		Short:   "Create an ImageListPullJob: pull several images",
		Example: `  kubectl kruise create imagelistpulljob warm --images registry.example.com/web:2,registry.example.com/api:7`,
	}
	images := Field{Flag: "images", Path: "spec.images", Shape: Texts, Help: "images to pull"}
	o := newForm(f, c, kruise.KindImageListPullJob, &kruise.ImageListPullJob{}, append([]Field{images}, pullFields...))
	o.copies(c, "imageListPullJobTemplate", "images")
	return c
}
