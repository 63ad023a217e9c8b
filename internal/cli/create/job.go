package create

import (
	"context"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// podFields are those of a job's pods.
var podFields = []Field{
	{Flag: "restart-policy", Path: "spec.template.spec.restartPolicy", Shape: Text, Help: "restart policy of failed containers (default Never)", Legal: []string{"Never", "OnFailure"}},
	{Flag: "node-selector", Path: "spec.template.spec.nodeSelector", Shape: Pairs, Help: "label selector of the nodes"},
	{Flag: "service-account", Path: "spec.template.spec.serviceAccountName", Shape: Text, Help: "service account of the pods"},
	{Flag: "pull-secret", Path: "spec.template.spec.imagePullSecrets", Shape: Names, Help: "Secrets for pulling images"},
}

var jobFields = append([]Field{
	{Flag: "parallelism", Path: "spec.parallelism", Shape: Number, Help: "number of pods that run at the same time"},
	{Flag: "completions", Path: "spec.completions", Shape: Number, Help: "number of pods that must succeed"},
	{Flag: "completion-mode", Path: "spec.completionMode", Shape: Text, Help: "completion mode; pods of an Indexed job have a number", Legal: []string{"NonIndexed", "Indexed"}},
	{Flag: "backoff-limit", Path: "spec.backoffLimit", Shape: Number, Help: "number of retries of the job"},
	{Flag: "active-deadline-seconds", Path: "spec.activeDeadlineSeconds", Shape: Number, Help: "deadline of the job in seconds"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.ttlSecondsAfterFinished", Shape: Number, Help: "seconds until the finished job is deleted"},
	{Flag: "backoff-limit-per-index", Path: "spec.backoffLimitPerIndex", Shape: Number, Help: "number of retries of each index of an Indexed job"},
	{Flag: "max-failed-indexes", Path: "spec.maxFailedIndexes", Shape: Number, Help: "number of indexes that may fail before the job fails"},
	{Flag: "pod-replacement-policy", Path: "spec.podReplacementPolicy", Shape: Text, Help: "when a terminating pod is replaced", Legal: []string{"TerminatingOrFailed", "Failed"}},
	{Flag: "managed-by", Path: "spec.managedBy", Shape: Text, Help: "name of the controller that manages the job"},
	{Flag: "suspend", Path: "spec.suspend", Shape: Truth, Help: "create the job suspended: no pods are started"},
}, podFields...)

var broadcastFields = append([]Field{
	{Flag: "parallelism", Path: "spec.parallelism", Shape: Amount, Help: "number of nodes at the same time (default: all)"},
	{Flag: "paused", Path: "spec.paused", Shape: Truth, Help: "create the job paused: no further pods are started"},
	{Flag: "completion-policy", Path: "spec.completionPolicy.type", Shape: Text, Help: "completion policy; with Never the job also runs on nodes that join later", Legal: completionPolicies},
	{Flag: "active-deadline-seconds", Path: "spec.completionPolicy.activeDeadlineSeconds", Shape: Number, Help: "deadline of the job in seconds"},
	{Flag: "ttl-seconds-after-finished", Path: "spec.completionPolicy.ttlSecondsAfterFinished", Shape: Number, Help: "seconds until the finished job is deleted"},
	{Flag: "failure-policy", Path: "spec.failurePolicy.type", Shape: Text, Help: "action when a pod fails", Legal: []string{string(kruise.FailFastFailurePolicyType), string(kruise.ContinueFailurePolicyType), string(kruise.PauseFailurePolicyType)}},
	{Flag: "restart-limit", Path: "spec.failurePolicy.restartLimit", Shape: Number, Help: "number of restarts after which a pod counts as failed"},
}, podFields...)

func newPlainJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "job NAME (--image IMAGE [-- COMMAND…] | --from cronjob/NAME | --from acj/NAME)",
		Aliases: []string{"Job", "jobs"},
		Short:   "Create a Job, or run an AdvancedCronJob or CronJob now",
		Example: `  kubectl kruise create job report --image registry.example.com/report:1 -- /report --day today

  # what an AdvancedCronJob would do at its time, now
  kubectl kruise create job report-now --from acj/report`,
	}
	newTypedForm(f, c, batchv1.SchemeGroupVersion.String(), "Job", &batchv1.Job{}, jobFields).runs(c, "jobTemplate")
	return c
}

func newBroadcastJob(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "broadcastjob NAME (--image IMAGE [-- COMMAND…] | --from acj/NAME)",
		Aliases: []string{"broadcastJob", kruise.KindBroadcastJob, "broadcastjobs", "bcj"},
		Short:   "Create a BroadcastJob: run a pod on every node",
		Example: `  kubectl kruise create broadcastjob cleanup --image registry.example.com/cleanup:1 --ttl-seconds-after-finished 600 -- /cleanup

  # what an AdvancedCronJob would do at its time, now
  kubectl kruise create broadcastJob cleanup-now --from acj/cleanup`,
	}
	o := newForm(f, c, kruise.KindBroadcastJob, &kruise.BroadcastJob{}, broadcastFields)
	o.runs(c, "broadcastJobTemplate")
	return c
}

// runs adds what jobs with pods start from: an image, or the template of another object.
func (o *form) runs(c *cobra.Command, template string) {
	var image string
	c.Flags().StringVar(&image, "image", "", "image to run")
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
			tree.Set(container, "command", tree.FromValue(stringValues(words)))
		}
		pod := tree.Map("containers", tree.Seq(container), "restartPolicy", "Never")
		tree.SetAt(object, pod, "spec", "template", "spec")
		return nil
	}
}

func stringValues(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}
