package create

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/fields"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// podFields are those of a job's pods.
var podFields = []fields.Field{
	{Flag: "restart-policy", Path: "spec.template.spec.restartPolicy", Shape: fields.Text, Help: "what a container that failed means; Never by default", Legal: []string{"Never", "OnFailure"}},
	{Flag: "node-selector", Path: "spec.template.spec.nodeSelector", Shape: fields.Pairs, Help: "the nodes by labels"},
	{Flag: "service-account", Path: "spec.template.spec.serviceAccountName", Shape: fields.Text, Help: "the account of the pods"},
	{Flag: "image-pull-secrets", Path: "spec.template.spec.imagePullSecrets", Shape: fields.Names, Help: "Secrets for the registry"},
}

var jobFields = append([]fields.Field{
	{Flag: "parallelism", Path: "spec.parallelism", Shape: fields.Number, Help: "how many pods run at a time"},
	{Flag: "completions", Path: "spec.completions", Shape: fields.Number, Help: "how many pods must succeed"},
	{Flag: "completion-mode", Path: "spec.completionMode", Shape: fields.Text, Help: "whether pods have numbers", Legal: []string{"NonIndexed", "Indexed"}},
	{Flag: "backoff-limit", Path: "spec.backoffLimit", Shape: fields.Number, Help: "how often the job is tried again"},
	{Flag: "active-deadline-seconds", Path: "spec.activeDeadlineSeconds", Shape: fields.Number, Help: "seconds that the job has"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.ttlSecondsAfterFinished", Shape: fields.Number, Help: "seconds until the finished job is deleted"},
	{Flag: "backoff-limit-per-index", Path: "spec.backoffLimitPerIndex", Shape: fields.Number, Help: "how often each number of an Indexed job is tried again"},
	{Flag: "max-failed-indexes", Path: "spec.maxFailedIndexes", Shape: fields.Number, Help: "how many numbers may fail before the job does"},
	{Flag: "pod-replacement-policy", Path: "spec.podReplacementPolicy", Shape: fields.Text, Help: "when a pod that goes is replaced", Legal: []string{"TerminatingOrFailed", "Failed"}},
	{Flag: "managed-by", Path: "spec.managedBy", Shape: fields.Text, Help: "the controller that the job is left to"},
	{Flag: "suspend", Path: "spec.suspend", Shape: fields.Truth, Help: "no pod runs for now"},
}, podFields...)

var broadcastFields = append([]fields.Field{
	{Flag: "parallelism", Path: "spec.parallelism", Shape: fields.Amount, Help: "on how many nodes at a time; on all by default"},
	{Flag: "paused", Path: "spec.paused", Shape: fields.Truth, Help: "no further pod runs for now"},
	{Flag: "completion-policy", Path: "spec.completionPolicy.type", Shape: fields.Text, Help: "whether the job ends, or goes on serving new nodes", Legal: completion},
	{Flag: "active-deadline-seconds", Path: "spec.completionPolicy.activeDeadlineSeconds", Shape: fields.Number, Help: "seconds that the job has"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.completionPolicy.ttlSecondsAfterFinished", Shape: fields.Number, Help: "seconds until the finished job is deleted"},
	{Flag: "failure-policy", Path: "spec.failurePolicy.type", Shape: fields.Text, Help: "what a failed pod means", Legal: []string{string(kruise.FailFastFailurePolicyType), string(kruise.ContinueFailurePolicyType), string(kruise.PauseFailurePolicyType)}},
	{Flag: "restart-limit", Path: "spec.failurePolicy.restartLimit", Shape: fields.Number, Help: "how many restarts a pod has before it counts as failed"},
}, podFields...)

func job(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "job NAME (--image IMAGE [-- COMMAND…] | --from cronjob/NAME | --from acj/NAME)",
		Aliases: []string{"Job", "jobs"},
		Short:   "Create a Job, or run an AdvancedCronJob or CronJob now",
		Example: `  kubectl kruise create job report --image registry.example.com/report:1 -- /report --day today

  # what an AdvancedCronJob would do at its time, now
  kubectl kruise create job report-now --from acj/report`,
	}
	newJob(f, c, jobFields).runs(c, "jobTemplate")
	return c
}

func broadcastJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "broadcastjob NAME (--image IMAGE [-- COMMAND…] | --from acj/NAME)",
		Aliases: []string{"broadcastJob", kruise.KindBroadcastJob, "broadcastjobs", "bcj"},
		Short:   "Create a BroadcastJob: run a pod on every node",
		Example: `  kubectl kruise create broadcastjob cleanup --image registry.example.com/cleanup:1 --ttl-seconds-after-finished 600 -- /cleanup

  # what an AdvancedCronJob would do at its time, now
  kubectl kruise create broadcastJob cleanup-now --from acj/cleanup`,
	}
	o := newForm(f, c, kruise.KindBroadcastJob, func() any { return &kruise.BroadcastJob{} }, broadcastFields)
	o.runs(c, "broadcastJobTemplate")
	return c
}

// runs adds what jobs with pods start from: an image, or the template of another object.
func (o *form) runs(c *cobra.Command, template string) {
	var image string
	c.Flags().StringVar(&image, "image", "", "the image that the job runs")
	o.copies(c, template, "image")
	copied := o.begin
	o.begin = func(ctx context.Context, object *tree.Node, words []string) error {
		if c.Flags().Changed("from") == (image != "") {
			return command.Usagef("", "either --image or --from must be specified")
		}
		if image == "" {
			return copied(ctx, object, words)
		}
		container := tree.Map("name", tree.StrAt(object, "metadata", "name"), "image", tree.String(image))
		if len(words) > 0 {
			tree.Set(container, "command", tree.FromValue(texts(words)))
		}
		pod := tree.Map("containers", tree.Seq(container), "restartPolicy", "Never")
		tree.SetAt(object, pod, "spec", "template", "spec")
		return nil
	}
}

func texts(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}
