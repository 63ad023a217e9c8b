package create

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/fields"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// completion are the words for when a job of Kruise ends.
var completion = []string{string(kruise.AlwaysCompletionPolicyType), string(kruise.NeverCompletionPolicyType)}

// pullFields are those that both kinds of pull jobs have.
var pullFields = []fields.Field{
	{Flag: "pull-secrets", Path: "spec.pullSecrets", Shape: fields.Texts, Help: "Secrets for the registry, in the job's namespace"},
	{Flag: "node-names", Path: "spec.selector.names", Shape: fields.Texts, Help: "nodes by name"},
	{Flag: "node-selector", Path: "spec.selector", Shape: fields.Selector, Help: "nodes by labels"},
	{Flag: "pod-selector", Path: "spec.podSelector", Shape: fields.Selector, Help: "the nodes of these pods"},
	{Flag: "parallelism", Path: "spec.parallelism", Shape: fields.Amount, Help: "how many nodes pull at a time; 1 by default"},
	{Flag: "timeout-seconds", Path: "spec.pullPolicy.timeoutSeconds", Shape: fields.Number, Help: "seconds for one pull; 600 by default"},
	{Flag: "backoff-limit", Path: "spec.pullPolicy.backoffLimit", Shape: fields.Number, Help: "how often a pull is tried again; 3 by default"},
	{Flag: "completion-policy", Path: "spec.completionPolicy.type", Shape: fields.Text, Default: completion[0], Help: "whether the job ends, or goes on serving new nodes", Legal: completion},
	{Flag: "active-deadline-seconds", Path: "spec.completionPolicy.activeDeadlineSeconds", Shape: fields.Number, Help: "seconds that the job has"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.completionPolicy.ttlSecondsAfterFinished", Shape: fields.Number, Help: "seconds until the finished job is deleted"},
	{Flag: "sandbox-labels", Path: "spec.sandboxConfig.labels", Shape: fields.Pairs, Help: "labels for the container runtime"},
	{Flag: "sandbox-annotations", Path: "spec.sandboxConfig.annotations", Shape: fields.Pairs, Help: "annotations for the container runtime"},
	{Flag: "image-pull-policy", Path: "spec.imagePullPolicy", Shape: fields.Text, Help: "what an image that is there means", Legal: []string{string(kruise.PullAlways), string(kruise.PullIfNotPresent)}},
}

// aliasesOf are the short names of ours that a kind has.
func aliasesOf(kind string) []string {
	k, _ := kruise.Lookup(kruise.Group, kind)
	return slices.Clone(k.Aliases)
}

func imagePullJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "imagepulljob NAME --image IMAGE",
		Aliases: append(aliasesOf(kruise.KindImagePullJob), kruise.KindImagePullJob, "imagePullJob", "imagepulljobs"),
		Short:   "Create an ImagePullJob: pull an image on nodes",
		Example: `  # onto the nodes of a pool, 5 at a time
  kubectl kruise create imagepulljob warm --image registry.example.com/web:2 --node-selector pool=gpu --parallelism 5 --ttl-seconds-after-finished 600`,
	}
	image := fields.Field{Flag: "image", Path: "spec.image", Shape: fields.Text, Help: "the image"}
	newForm(f, c, kruise.KindImagePullJob, func() any { return &kruise.ImagePullJob{} }, append([]fields.Field{image}, pullFields...))
	return c
}

func imageListPullJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "imagelistpulljob NAME (--images A,B | --from acj/NAME)",
		Aliases: append(aliasesOf(kruise.KindImageListPullJob), kruise.KindImageListPullJob, "imageListPullJob", "imagelistpulljobs"),
		Short:   "Create an ImageListPullJob: pull several images",
		Example: `  kubectl kruise create imagelistpulljob warm --images registry.example.com/web:2,registry.example.com/api:7`,
	}
	images := fields.Field{Flag: "images", Path: "spec.images", Shape: fields.Texts, Help: "the images"}
	o := newForm(f, c, kruise.KindImageListPullJob, func() any { return &kruise.ImageListPullJob{} }, append([]fields.Field{images}, pullFields...))
	o.copies(c, "imageListPullJobTemplate", "images")
	return c
}
