// Package runner describes the Job that carries a rollout out inside the cluster. It only
// makes objects: what the Job runs is `kubectl kruise rollout drive`, and the record and the
// Lease of the rollout make it safe to kill at any time (docs/detached.md).
package runner

import (
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const (
	// Namespace is where runners are, unless --runner-namespace names another.
	Namespace = "kubectl-kruise"
	// ServiceAccount is the ServiceAccount of runners, and the name of their roles.
	ServiceAccount = "kubectl-kruise-runner"
	// SecretKey is the key of the Secret that signs notifications.
	SecretKey = "secret"
	// SecretVariable is the environment variable that a runner reads it from.
	SecretVariable = "KUBECTL_KRUISE_NOTIFY_SECRET" //nolint:gosec // a name
	// PodVariable is the environment variable with the name of the runner's pod.
	PodVariable = "KUBECTL_KRUISE_RUNNER"

	// ofLabel and inLabel are the workload and its namespace, by which a runner is found.
	ofLabel = "kubectl-kruise.dev/runner-of"
	inLabel = "kubectl-kruise.dev/runner-for-namespace"
	// planAnnotation is the digest of the plan that the runner carries out.
	planAnnotation = "kubectl-kruise.dev/plan"

	container = "runner"
	// image is the image of releases, without its tag (.goreleaser.yaml).
	image   = "ghcr.io/kubectl-kruise/kubectl-kruise"
	program = "/usr/local/bin/kubectl-kruise" // plugins/kustomize/Dockerfile
	// nobody is the user of that image.
	nobody = 65534

	tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // a folder
	planPath  = "/etc/kubectl-kruise"
	planFile  = "plan.yaml"

	// kept is how long a Job that has ended stays, with its log.
	kept = 24 * time.Hour
	// tokenLasts is how long a token is valid; the kubelet renews it in time.
	tokenLasts = time.Hour
	// grace is how long a runner has to let go of the rollout, which takes it three seconds at
	// most (pkg/apply/kube/hold.go).
	grace = 15 * time.Second
	// retries is how often a runner that failed without ending the rollout is made again.
	retries = 20
)

// Spec is what a runner is for.
type Spec struct {
	Image, Namespace, Account string
	// Workload is what is rolled out; Type is its kind as the command line names it. A group
	// of rollouts is a [GroupRef] without a Type.
	Workload cluster.Ref
	Type     string
	// Digest is [plan.Plan.Digest] of the approved plan, or [group.Record.Digest]. BackTo is
	// the hash of the template that the plan starts from, to which alone a failed step may
	// take the workload back.
	Digest, BackTo string
	// From is the index of the first step that may be carried out.
	From int
	// Plan is the text of the plan, or of the group with its plans, where no record has it yet:
	// the runner records it.
	// Such a Job has a fixed name and stays until it is deleted.
	Plan []byte
	// Deadline bounds the whole life of the Job; 0 is no bound.
	Deadline time.Duration
	// Args are further arguments, such as --notify.
	Args []string
	// NotifySecret is the name of the Secret that signs notifications; it may be empty.
	NotifySecret string
	// Listen is the address of /metrics and /healthz; empty is none.
	Listen string
}

// Image is the image of a release by the version of the program; empty for a build that was
// not released.
func Image(version string) string {
	number, ok := strings.CutPrefix(version, "v")
	if !ok {
		number = version
	}
	if number == "" || strings.ContainsAny(number, "-+()") || strings.Count(number, ".") != 2 {
		return ""
	}
	return image + ":v" + number
}

// groupKind is the kind of a [GroupRef].
const groupKind = "RolloutGroup"

// GroupRef names a group of rollouts where a workload would be named.
func GroupRef(namespace, name string) cluster.Ref {
	return cluster.Ref{Kind: groupKind, Namespace: namespace, Name: name}
}

// Selector finds the runners of a workload or of a group.
func Selector(of cluster.Ref) string { return labels.FormatLabels(marks(of)) }

func marks(of cluster.Ref) map[string]string {
	namespace := of.Namespace
	if namespace == "" {
		namespace = "cluster-scoped"
	}
	group := "native"
	if of.Group == kruise.Group {
		group = "kruise"
	}
	return map[string]string{ofLabel: kruise.SourceValue(group+"."+of.Kind, of.Name), inLabel: namespace}
}

// Job is the Job of a runner.
func Job(s Spec) *batchv1.Job {
	meta := s.meta()
	job := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}, ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			Completions: new(int32(1)), Parallelism: new(int32(1)), BackoffLimit: new(int32(retries)),
			// A new runner waits for the Lease of the one before, which has ended by then.
			PodReplacementPolicy:    new(batchv1.Failed),
			PodFailurePolicy:        failures(),
			TTLSecondsAfterFinished: new(int32(kept / time.Second)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations},
				Spec:       s.pod(),
			},
		},
	}
	if s.Deadline > 0 {
		job.Spec.ActiveDeadlineSeconds = new(int64(s.Deadline / time.Second))
	}
	if s.Plan != nil {
		job.Spec.TTLSecondsAfterFinished = nil // the owner of the manifest would create it again
	}
	return job
}

// PlanMap is the ConfigMap with the plan of a runner that records it itself. It cannot
// be changed, and its digest is in the Job.
func PlanMap(s Spec) *corev1.ConfigMap {
	meta := s.meta()
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta,
		Immutable: new(true), Data: map[string]string{planFile: string(s.Plan)},
	}
}

// longestName leaves room for what a Job puts behind its name in those of its pods.
const longestName = 40

func (s Spec) meta() metav1.ObjectMeta {
	all := marks(s.Workload)
	all["app.kubernetes.io/managed-by"] = "kubectl-kruise"
	all["app.kubernetes.io/component"] = container
	base := "rollout-" + strings.ReplaceAll(s.Workload.Name, ".", "-")
	base = strings.TrimRight(base[:min(len(base), longestName)], "-")
	m := metav1.ObjectMeta{Namespace: s.Namespace, Labels: all, Annotations: map[string]string{planAnnotation: s.Digest}}
	if s.Plan == nil {
		m.GenerateName = base + "-"
		return m
	}
	_, digits, _ := strings.Cut(s.Digest, ":")
	m.Name = base + "-" + digits[:min(len(digits), 10)]
	return m
}

// failures tell a rollout that has failed, which no other runner would carry out either, from
// a runner that was lost. Exit codes: internal/cli/exit.go.
func failures() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action:      batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: new(container), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{2, 3}},
		},
		{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		},
		{
			// It was told to stop, and let go of the rollout: an eviction, or a person who
			// deleted the pod.
			Action:      batchv1.PodFailurePolicyActionIgnore,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: new(container), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{130, 143}},
		},
	}}
}

// pod is what runs. It keeps to the restricted level of the Pod Security Standards, and has no
// rule about nodes: a runner that is evicted resumes elsewhere.
func (s Spec) pod() corev1.PodSpec {
	pod := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: s.Account, AutomountServiceAccountToken: new(false),
		TerminationGracePeriodSeconds: new(int64(grace / time.Second)), EnableServiceLinks: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(nobody)), RunAsGroup: new(int64(nobody)), FSGroup: new(int64(nobody)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{s.container()},
		Volumes:    []corev1.Volume{token(), {Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("16Mi"))}}}},
	}
	if s.Plan != nil {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "plan", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: s.meta().Name}},
		}})
	}
	return pod
}

func (s Spec) container() corev1.Container {
	c := corev1.Container{
		Name: container, Image: s.Image, Command: []string{program}, Args: s.args(),
		Env: []corev1.EnvVar{
			{Name: "HOME", Value: "/tmp"},
			{Name: PodVariable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "GOMEMLIMIT", Value: "200MiB"},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), RunAsNonRoot: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		// Its last message is in the status of its pod.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "token", MountPath: tokenPath, ReadOnly: true},
			{Name: "tmp", MountPath: "/tmp"},
		},
	}
	if s.NotifySecret != "" {
		c.Env = append(c.Env, corev1.EnvVar{Name: SecretVariable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: s.NotifySecret}, Key: SecretKey,
		}}})
	}
	if s.Plan != nil {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "plan", MountPath: planPath, ReadOnly: true})
	}
	if port := portOf(s.Listen); port > 0 {
		c.Ports = []corev1.ContainerPort{{Name: "metrics", ContainerPort: port}}
	}
	return c
}

// args are those of `rollout drive`.
func (s Spec) args() []string {
	out := []string{"rollout", "drive"}
	if s.Workload.Kind == groupKind {
		out = append(out, "--group="+s.Workload.Name)
	} else {
		out = append(out, s.Type+"/"+s.Workload.Name)
	}
	if s.Workload.Namespace != "" {
		out = append(out, "--namespace="+s.Workload.Namespace)
	}
	out = append(out, "--approved="+s.Digest)
	if s.Workload.Kind != groupKind {
		out = append(out, "--back-to="+s.BackTo)
	}
	if s.From > 0 {
		out = append(out, "--from="+strconv.Itoa(s.From))
	}
	if s.Plan != nil {
		out = append(out, "--plan="+planPath+"/"+planFile)
	}
	if s.Listen != "" {
		out = append(out, "--listen="+s.Listen)
	}
	return append(out, s.Args...)
}

// portOf is the port of an address such as :8080; 0 where it is none.
func portOf(address string) int32 {
	n, err := strconv.ParseInt(address[strings.LastIndexByte(address, ':')+1:], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// token is what a pod has of its ServiceAccount by default, with a token that lasts an hour.
func token() corev1.Volume {
	return corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(0o440)),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(tokenLasts / time.Second))}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
			}}},
		},
	}}}
}
