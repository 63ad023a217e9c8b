package inspect

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// debugJob is what flags say of an EphemeralJob.
type debugJob struct {
	name                       string
	replicas, parallelism, ttl int32
}

func (j *debugJob) flags(fl *pflag.FlagSet) {
	fl.StringVar(&j.name, "job-name", "", "name of the EphemeralJob (default: generated)")
	fl.Int32Var(&j.replicas, "replicas", 0, "number of matching pods to debug (default: all)")
	fl.Int32Var(&j.parallelism, "parallelism", 0, "number of pods at the same time (default 1)")
	fl.Int32Var(&j.ttl, "ttl", 0, "seconds after which a finished EphemeralJob is deleted (default: never)")
}

const ephemeralJobs = "ephemeraljobs"

// createJob makes an EphemeralJob over pods.
func (o *debugOptions) createJob(ctx context.Context, chosen resourcearg.PodSelection, version string) error {
	u, err := o.ephemeralJob(chosen, version)
	if err != nil {
		return err
	}
	if o.dryRun != cmdutil.DryRunClient {
		if u, err = o.send(ctx, u, version); err != nil {
			return err
		}
	}
	printer, err := cmdutil.PrintFlagsWithDryRunStrategy(o.output, o.dryRun).ToPrinter()
	if err != nil {
		return err
	}
	if err := printer.PrintObj(u, o.Out); err != nil || o.dryRun != cmdutil.DryRunNone {
		return err
	}
	return o.printNote("%s", o.factory.Copyable(fmt.Sprintf(`hint: 'kubectl kruise logs -l "%s" -c %s' shows what it prints`, chosen.Selector, o.Container)))
}

func (o *debugOptions) send(ctx context.Context, u *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	client, err := o.kubectl.DynamicClient()
	if err != nil {
		return nil, err
	}
	options := metav1.CreateOptions{FieldManager: o.fieldManager}
	if o.dryRun == cmdutil.DryRunServer {
		options.DryRun = []string{metav1.DryRunAll}
	}
	r := schema.GroupVersionResource{Group: kruise.Group, Version: version, Resource: ephemeralJobs}
	return client.Resource(r).Namespace(u.GetNamespace()).Create(ctx, u, options)
}

// ephemeralJob is the object.
func (o *debugOptions) ephemeralJob(chosen resourcearg.PodSelection, version string) (*unstructured.Unstructured, error) {
	selector, err := metav1.ParseToLabelSelector(chosen.Selector.String())
	if err != nil {
		return nil, err
	}
	container, err := o.container()
	if err != nil {
		return nil, err
	}
	out := kruise.EphemeralJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: kruise.Group + "/" + version, Kind: kruise.KindEphemeralJob},
		ObjectMeta: metav1.ObjectMeta{Namespace: chosen.Namespace, Name: o.job.name},
		Spec: kruise.EphemeralJobSpec{
			Selector: selector, Replicas: optionalCount(o.job.replicas), Parallelism: optionalCount(o.job.parallelism), TTLSecondsAfterFinished: optionalCount(o.job.ttl),
			Template: kruise.EphemeralContainerTemplate{EphemeralContainers: []corev1.EphemeralContainer{container}},
		},
	}
	if out.Name == "" {
		out.Name = "debug-" + nameSuffix()
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&out)
	if err != nil {
		return nil, err
	}
	// There is no status yet, and no time of creation.
	delete(object, "status")
	unstructured.RemoveNestedField(object, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: object}, nil
}

// container is the one that kubectl would put into a pod, with its profile.
func (o *debugOptions) container() (corev1.EphemeralContainer, error) {
	if o.Container == "" {
		o.Container = "debugger-" + nameSuffix()
	}
	c := corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: o.Container, Image: o.Image, Env: o.Env, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			// Kruise takes no EphemeralJob without a policy.
			ImagePullPolicy: cmp.Or(o.PullPolicy, kruise.PullPolicyOf(o.Image)),
		},
		TargetContainerName: o.TargetContainer,
	}
	if o.ArgsOnly {
		c.Args = o.Args
	} else {
		c.Command = o.Args
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers:          []corev1.Container{{Name: o.TargetContainer}},
		EphemeralContainers: []corev1.EphemeralContainer{c},
	}}
	err := o.Applier.Apply(pod, o.Container, pod)
	return pod.Spec.EphemeralContainers[0], err
}

// optionalCount is a number of a flag, nil where it was left out.
func optionalCount(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

// nameSuffix tells a thing from others of its name.
func nameSuffix() string { return rand.String(5) }
