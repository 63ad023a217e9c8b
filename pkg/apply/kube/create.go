package kube

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// stepID identifies one start of a step: it is the same for every process that resumes
// the step, and another when the step starts again, so that what was created under it is
// found again, and nothing older is mistaken for it.
type stepID string

// What a step creates carries the label of its rollout, [recordLabel], and these.
const (
	// stepLabel is the ID of the step that asked for it.
	stepLabel = "kubectl-kruise.dev/step"
	// imageAnnotation and nodeAnnotation say what a Job pulls, and where.
	imageAnnotation = "kubectl-kruise.dev/image"
	nodeAnnotation  = "kubectl-kruise.dev/node"
)

// stepObjects creates what steps need besides the workload, and finds it again after a
// crash.
type stepObjects struct {
	*connection
	observer *observer
	record   *watchedRecord
	lazy     *lazyMirrors
}

// currentStep is the ID of the present step, and the workload that it is for.
func (so *stepObjects) currentStep() (stepID, *cluster.Workload, error) {
	w, err := so.observer.current()
	if err != nil {
		return "", nil, err
	}
	if w.workload == nil {
		return "", nil, fmt.Errorf("%s: %w", so.changedObject().Ref, plan.ErrNotFound)
	}
	rec, err := so.record.current()
	return stepIDOf(so.opt.Target.Ref, rec.Progress), w.workload, err
}

func stepIDOf(ref cluster.Ref, p plan.Progress) stepID {
	return stepID(shortHash(ref.String(), fmt.Sprint(p.Step, p.Started.UnixNano()), ""))
}

const hashLength = 10

// shortHash is a short text that differs for different values.
func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// objectName is the name of what a step creates for one purpose; base is its readable
// beginning.
func (m stepID) objectName(base string, purpose ...string) string {
	const most = 63 - 1 - hashLength // pods of Jobs carry the name as a label
	if len(base) > most {
		base = strings.TrimRight(base[:most], "-.")
	}
	return base + "-" + shortHash(append(purpose, string(m))...)
}

// meta is the metadata of what a step creates besides the workload: it is deleted with
// its owners at the latest.
func (so *stepObjects) meta(m stepID, owners []metav1.OwnerReference, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: so.auxiliaryNamespace(), Name: name, Labels: so.labels(m), OwnerReferences: owners}
}

// ownersOf are the owners of what a step creates: it is deleted with the workload.
func (so *stepObjects) ownersOf(w *cluster.Workload) []metav1.OwnerReference {
	return []metav1.OwnerReference{so.ownerReference(w)}
}

func (c *connection) labels(m stepID) map[string]string {
	return map[string]string{
		recordLabel: kruise.SourceValue(c.opt.Target.Kind, c.opt.Target.Name), stepLabel: string(m), "app.kubernetes.io/managed-by": FieldManager,
	}
}

// createdSelector selects what rollouts of the workload have created.
func (c *connection) createdSelector() string {
	return recordLabel + "=" + kruise.SourceValue(c.opt.Target.Kind, c.opt.Target.Name)
}

// auxiliaryNamespace is the namespace for what belongs to a rollout.
func (c *connection) auxiliaryNamespace() string {
	return cmp.Or(c.opt.Target.Namespace, c.opt.StateNamespace)
}

// createStateNamespace creates the namespace for records of cluster-scoped kinds.
func (c *connection) createStateNamespace(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.opt.StateNamespace}}
	_, err := c.core.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{FieldManager: FieldManager})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if _, get := c.core.CoreV1().Namespaces().Get(ctx, c.opt.StateNamespace, metav1.GetOptions{}); get == nil {
		return nil
	}
	return fmt.Errorf("namespace %s, where the rollout is kept: %w", c.opt.StateNamespace, err)
}

// ownerReference is that of what is deleted with the workload.
func (c *connection) ownerReference(w *cluster.Workload) metav1.OwnerReference {
	o := c.changedObject()
	return metav1.OwnerReference{APIVersion: o.Resource.GroupVersion().String(), Kind: o.Kind, Name: o.Name, UID: uidOf(w)}
}

func uidOf(w *cluster.Workload) types.UID { return types.UID(w.UID) }

// createOrGet creates an object under a name that identifies it: one that exists already
// is the same, created before a crash. put shows it at once.
func createOrGet(ctx context.Context, client dynamic.ResourceInterface, u *unstructured.Unstructured, put func(any) error) error {
	got, err := client.Create(ctx, u, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		got, err = client.Get(ctx, u.GetName(), metav1.GetOptions{})
	}
	if err != nil {
		return planError(u.GetKind()+" "+u.GetName(), err)
	}
	return put(got)
}

// createJob creates a Job; one of its name is the same, created before a crash.
func (so *stepObjects) createJob(ctx context.Context, job *batchv1.Job) (got *batchv1.Job, found bool, err error) {
	client := so.core.BatchV1().Jobs(job.Namespace)
	got, err = client.Create(ctx, job, metav1.CreateOptions{FieldManager: FieldManager})
	if found = apierrors.IsAlreadyExists(err); found {
		got, err = client.Get(ctx, job.Name, metav1.GetOptions{})
	}
	if err != nil {
		return nil, found, planError("Job "+job.Name, err)
	}
	return got, found, so.lazy.jobs.ifStarted().put(got)
}

// jobEnd is the condition that a Job has ended with; ok is false while it runs.
func jobEnd(job *batchv1.Job) (c batchv1.JobCondition, ok bool) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c, true
		}
	}
	return c, false
}

func jobEnded(job *batchv1.Job) bool {
	_, ok := jobEnd(job)
	return ok
}

// jobFailure reports why a Job has failed.
func jobFailure(c batchv1.JobCondition) string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", c.Reason, c.Message), ": ")
}

// kruiseRequest is the request that creates an object of a kind of Kruise.
func kruiseRequest[T any](l *lazyMirror[T], kind string, meta metav1.ObjectMeta, spec any) ([]event.Request, error) {
	u, err := l.object(kind, meta, spec)
	return []event.Request{{
		Method: http.MethodPost, Path: objects.Path(l.mirror.source.resource, meta.Namespace, ""), ContentType: "application/json", Body: u.Object,
	}}, err
}

// withGeneratedName is metadata of which only the beginning of the name is known.
func withGeneratedName(meta metav1.ObjectMeta, begin string) metav1.ObjectMeta {
	meta.Name, meta.GenerateName = "", begin
	delete(meta.Labels, stepLabel)
	return meta
}
