package kube

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// Records are where rollouts are kept: a ConfigMap for each, owned by its workload,
// in the workload's namespace. Any machine can go on from there.
type Records struct {
	Client kubernetes.Interface
	// StateNamespace is where those of kinds without a namespace are.
	StateNamespace string
}

// Record is one rollout as it is kept.
type Record struct {
	Ref      cluster.Ref
	Plan     plan.Plan
	Progress plan.Progress
	// Base is the template that the workload had before.
	Base map[string]any
	// Begun is when the rollout was begun, Times when each step was.
	Begun time.Time
	Times map[string]time.Time
	// By is who wrote it last.
	By string

	version string
}

// Keys and labels of the ConfigMap.
const (
	recordLabel = "kubectl-kruise.dev/rollout-of"
	keyRecord   = "record"
	keyPlan     = "plan.yaml.gz"
	keyBase     = "base.json.gz"
	// mostBytes is what a record may hold: an API server takes a megabyte.
	mostBytes = 900 << 10
)

// written is the part of a record that changes.
type written struct {
	Target   target               `json:"target"`
	Begun    time.Time            `json:"begun"`
	By       string               `json:"by,omitempty"`
	Progress progress             `json:"progress"`
	Times    map[string]time.Time `json:"times,omitempty"`
}

type target struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

type progress struct {
	Step     int       `json:"step"`
	Started  time.Time `json:"started,omitzero"`
	Sent     int       `json:"sent,omitempty"`
	Promoted bool      `json:"promoted,omitempty"`
	Free     int       `json:"free,omitempty"`
	Held     string    `json:"held,omitempty"`
	Halted   string    `json:"halted,omitempty"`
	Finished time.Time `json:"finished,omitzero"`
}

// ErrNone is a workload of which no rollout is on record.
var ErrNone = errors.New("no rollout is on record")

// where is namespace and name of a workload's record, and of its lease.
func (r Records) where(ref cluster.Ref) (namespace, name string) {
	namespace = ref.Namespace
	if namespace == "" {
		namespace = r.StateNamespace
	}
	return namespace, "rollout." + kruise.SourceValue(ref.Kind+groupMark(ref.Group), ref.Name)
}

// groupMark tells kinds of one name apart.
func groupMark(group string) string {
	if group == kruise.Group {
		return ""
	}
	return "-native"
}

// Load reads the record of a workload. The error wraps ErrNone without one.
func (r Records) Load(ctx context.Context, ref cluster.Ref) (Record, error) {
	namespace, name := r.where(ref)
	cm, err := r.Client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Record{}, fmt.Errorf("%s: %w", ref, ErrNone)
	}
	if err != nil {
		return Record{}, err
	}
	return readRecord(cm)
}

// List reads all records of a namespace, or of all for "".
func (r Records) List(ctx context.Context, namespace string) ([]Record, error) {
	var out []Record
	opt := metav1.ListOptions{LabelSelector: recordLabel, Limit: 500}
	for {
		page, err := r.Client.CoreV1().ConfigMaps(namespace).List(ctx, opt)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			one, err := readRecord(&page.Items[i])
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		if opt.Continue = page.Continue; opt.Continue == "" {
			return out, nil
		}
	}
}

// Begin puts a plan on record, in the place of any before. owner is the object in
// the cluster that the record goes away with. base is kept unless it is nil: then
// the one on record stays.
func (r Records) Begin(ctx context.Context, ref cluster.Ref, owner metav1.OwnerReference, p plan.Plan, base map[string]any, by string) (Record, error) {
	next := Record{Ref: ref, Plan: withoutPods(p), Base: base, Begun: time.Now().UTC(), By: by}
	namespace, _ := r.where(ref)
	var stored *corev1.ConfigMap
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		before, err := r.Load(ctx, ref)
		if err != nil && !errors.Is(err, ErrNone) {
			return err
		}
		if next.version = before.version; next.Base == nil {
			next.Base = before.Base
		}
		cm, err := r.configMap(next, owner)
		if err != nil {
			return err
		}
		if next.version == "" {
			stored, err = r.Client.CoreV1().ConfigMaps(namespace).Create(ctx, cm, metav1.CreateOptions{FieldManager: FieldManager})
			return err
		}
		stored, err = r.Client.CoreV1().ConfigMaps(namespace).Update(ctx, cm, metav1.UpdateOptions{FieldManager: FieldManager})
		return err
	})
	if err != nil {
		return Record{}, told("the record of "+ref.String(), err)
	}
	return readRecord(stored)
}

// Change changes how far a rollout has come, as it is on record now; a change by
// somebody else in between makes it look again.
func (r Records) Change(ctx context.Context, ref cluster.Ref, by string, change func(*Record) error) (Record, error) {
	var out Record
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := r.Load(ctx, ref)
		if err != nil {
			return err
		}
		if err := change(&now); err != nil {
			return err
		}
		now.By = by
		out, err = r.store(ctx, now)
		return err
	})
	return out, err
}

// store writes the part that changes; it fails with a conflict if somebody else has
// written since the record was read.
func (r Records) store(ctx context.Context, now Record) (Record, error) {
	text, err := json.Marshal(writtenOf(now))
	if err != nil {
		return Record{}, err
	}
	namespace, name := r.where(now.Ref)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": now.version},
		"data":     map[string]any{keyRecord: string(text)},
	})
	if err != nil {
		return Record{}, err
	}
	cm, err := r.Client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, "application/merge-patch+json", patch, metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return Record{}, err
	}
	return readRecord(cm)
}

// Forget removes the record of a workload.
func (r Records) Forget(ctx context.Context, ref cluster.Ref) error {
	namespace, name := r.where(ref)
	err := r.Client.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func writtenOf(r Record) written {
	p := r.Progress
	return written{
		Target: target{r.Ref.Group, r.Ref.Kind, r.Ref.Namespace, r.Ref.Name}, Begun: r.Begun, By: r.By, Times: r.Times,
		Progress: progress{p.Step, p.Started.UTC(), p.Sent, p.Promoted, p.Free, p.Held, p.Halted, p.Finished.UTC()},
	}
}

func (r Records) configMap(rec Record, owner metav1.OwnerReference) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(writtenOf(rec))
	if err != nil {
		return nil, err
	}
	base, err := json.Marshal(rec.Base)
	if err != nil {
		return nil, err
	}
	namespace, name := r.where(rec.Ref)
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, ResourceVersion: rec.version, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{
				recordLabel: kruise.SourceValue(rec.Ref.Kind, rec.Ref.Name), "app.kubernetes.io/managed-by": FieldManager,
			},
		},
		Data:       map[string]string{keyRecord: string(text)},
		BinaryData: map[string][]byte{keyPlan: packed(planfile.Write(rec.Plan)), keyBase: packed(base)},
	}
	if size := len(text) + len(cm.BinaryData[keyPlan]) + len(cm.BinaryData[keyBase]); size > mostBytes {
		return nil, fmt.Errorf("the plan takes %d KiB of the %d that a record may hold: roll out in fewer steps", size>>10, mostBytes>>10)
	}
	return cm, nil
}

func readRecord(cm *corev1.ConfigMap) (Record, error) {
	broken := func(err error) (Record, error) {
		return Record{}, fmt.Errorf("ConfigMap %s/%s holds no rollout that this version can read: %w", cm.Namespace, cm.Name, err)
	}
	var w written
	if err := json.Unmarshal([]byte(cm.Data[keyRecord]), &w); err != nil {
		return broken(err)
	}
	text, err := unpacked(cm.BinaryData[keyPlan])
	if err != nil {
		return broken(err)
	}
	p, err := planfile.Read(text)
	if err != nil {
		return broken(err)
	}
	out := Record{
		Ref:  cluster.Ref{Group: w.Target.Group, Kind: w.Target.Kind, Namespace: w.Target.Namespace, Name: w.Target.Name},
		Plan: p, Begun: w.Begun, By: w.By, Times: w.Times, version: cm.ResourceVersion,
		Progress: plan.Progress{
			Step: w.Progress.Step, Started: w.Progress.Started, Sent: w.Progress.Sent, Promoted: w.Progress.Promoted,
			Free: w.Progress.Free, Held: w.Progress.Held, Halted: w.Progress.Halted, Finished: w.Progress.Finished,
		},
	}
	if text, err = unpacked(cm.BinaryData[keyBase]); err != nil {
		return broken(err)
	}
	if err := json.Unmarshal(text, &out.Base); err != nil {
		return broken(err)
	}
	return out, nil
}

// withoutPods is a plan without the pods that its steps were expected to touch: what
// a record is for needs them only where the pods themselves are the step.
func withoutPods(p plan.Plan) plan.Plan {
	steps := make([]plan.Step, len(p.Steps))
	for i, s := range p.Steps {
		if s.Kind != plan.StepRecreateContainers {
			s.Pods = nil
		}
		steps[i] = s
	}
	p.Steps = steps
	return p
}

func packed(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// mostUnpacked bounds what a record can unpack to.
const mostUnpacked = 64 << 20

func unpacked(text []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, mostUnpacked))
	if err == nil && len(out) == mostUnpacked {
		return nil, errors.New("it is too large")
	}
	return out, err
}

// Title names a record's workload as people do.
func (r Record) Title() string { return strings.ToLower(r.Ref.Kind) + "/" + r.Ref.Name }
