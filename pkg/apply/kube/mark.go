package kube

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// What a step creates carries the label of its rollout, [recordLabel], and these.
const (
	// stepLabel is the mark of the step that asked for it.
	stepLabel = "kubectl-kruise.dev/step"
	// imageAnnotation and nodeAnnotation say what a Job pulls, and where.
	imageAnnotation = "kubectl-kruise.dev/image"
	nodeAnnotation  = "kubectl-kruise.dev/node"
)

// mark tells what one step asks for from whatever was asked for before: it is the
// same for whoever resumes the step, and another when the step begins anew, so what
// was created under it is found again, and nothing old is taken for it.
type mark string

const markDigits = 10

func markOf(ref cluster.Ref, p plan.Progress) mark {
	return mark(digits(ref.String(), fmt.Sprint(p.Step, p.Started.UnixNano()), ""))
}

// digits tells values apart.
func digits(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:markDigits]
}

// name is the name of what a step creates for one purpose; base says to people what
// it is about.
func (m mark) name(base string, purpose ...string) string {
	const most = 63 - 1 - markDigits // pods of Jobs carry the name as a label
	if len(base) > most {
		base = strings.TrimRight(base[:most], "-.")
	}
	return base + "-" + digits(append(purpose, string(m))...)
}

// meta is the metadata of what a step creates beside the workload: it goes away with
// its owners at the latest.
func (c *Cluster) meta(m mark, owners []metav1.OwnerReference, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.beside(), Name: name, Labels: c.labels(m), OwnerReferences: owners}
}

// ownersOf has what a step creates go away with the object in the cluster.
func (c *Cluster) ownersOf(w *cluster.Workload) []metav1.OwnerReference {
	return []metav1.OwnerReference{c.ownerReference(w)}
}

// beside is the namespace for what belongs to a rollout.
func (c *Cluster) beside() string { return cmp.Or(c.opt.Target.Namespace, c.opt.StateNamespace) }

func (c *Cluster) labels(m mark) map[string]string {
	return map[string]string{
		recordLabel: kruise.SourceValue(c.opt.Target.Kind, c.opt.Target.Name), stepLabel: string(m), "app.kubernetes.io/managed-by": FieldManager,
	}
}

// ours selects what rollouts of the workload have created.
func (c *Cluster) ours() string {
	return recordLabel + "=" + kruise.SourceValue(c.opt.Target.Kind, c.opt.Target.Name)
}

// asks is the mark of the present step, and the workload that it is for.
func (c *Cluster) asks() (mark, *cluster.Workload, error) {
	w, err := c.present()
	if err != nil {
		return "", nil, err
	}
	if w.workload == nil {
		return "", nil, fmt.Errorf("%s: %w", c.object().Ref, plan.ErrNotFound)
	}
	rec, err := c.record.now()
	return markOf(c.opt.Target.Ref, rec.Progress), w.workload, err
}
