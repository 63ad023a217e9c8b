package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// configMap is a record as it is stored. It was read back as the same record: none is written
// that a later verb refuses.
func (r Records) configMap(rec plan.Record, owner metav1.OwnerReference) (*corev1.ConfigMap, error) {
	cm, err := r.encoded(rec, owner)
	if err != nil {
		return nil, err
	}
	_, err = rollouts.read(cm)
	return cm, notReadBack("the record of "+rec.Ref.String(), err)
}

// recordText is the part of a record that changes, as it is stored. It was read back as the same.
func recordText(rec plan.Record) ([]byte, error) {
	for _, at := range []*time.Time{&rec.Progress.Started, &rec.Progress.Resumed, &rec.Progress.Finished} {
		*at = at.UTC()
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	read, err := decodeRecord(text, rec.Plan)
	if err != nil {
		return nil, notReadBack("the record of "+rec.Ref.String(), err)
	}
	if again, err := json.Marshal(read); err != nil || !bytes.Equal(again, text) {
		return nil, notReadBack("the record of "+rec.Ref.String(), fmt.Errorf("%s becomes %s", text, again))
	}
	return text, nil
}

// encoded is a record as a ConfigMap, which holds no more than an API server takes.
func (r Records) encoded(rec plan.Record, owner metav1.OwnerReference) (*corev1.ConfigMap, error) {
	text, err := recordText(rec)
	if err != nil {
		return nil, err
	}
	plan, err := planfile.Write(rec.Plan)
	if err != nil {
		return nil, err
	}
	base, err := json.Marshal(rec.Base)
	if err != nil {
		return nil, err
	}
	namespace, name := r.location(rec.Ref)
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, ResourceVersion: rec.Version, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{
				recordLabel: kruise.SourceValue(rec.Ref.Kind, rec.Ref.Name), "app.kubernetes.io/managed-by": FieldManager,
			},
		},
		Data:       map[string]string{keyRecord: string(text)},
		BinaryData: map[string][]byte{keyPlan: compress(plan), keyBase: compress(base)},
	}
	size := len(text) + len(cm.BinaryData[keyPlan]) + len(cm.BinaryData[keyBase])
	if size > maxRecordBytes {
		return nil, fmt.Errorf("the plan takes %d KiB of the %d that a record may hold: roll out in fewer steps", size>>10, maxRecordBytes>>10)
	}
	if past := compressPast(rec.Past, min(maxPastBytes, maxRecordBytes-size)); past != nil {
		cm.BinaryData[keyPast] = past
	}
	return cm, nil
}

// rollouts is how the record of the rollout of a workload is kept.
var rollouts = stored[plan.Record]{label: recordLabel, text: keyRecord, packed: []string{keyPlan, keyBase}, none: plan.ErrNoRollout, decode: decodeRollout}

// decodeRollout reads what configMap writes.
func decodeRollout(cm *corev1.ConfigMap, most int64) (out plan.Record, err error) {
	text, err := decompressTo(cm.BinaryData[keyPlan], most)
	if err != nil {
		return out, err
	}
	p, err := planfile.Read(text)
	if err != nil {
		return out, err
	}
	out, err = decodeRecord([]byte(cm.Data[keyRecord]), p)
	if err != nil {
		return out, err
	}
	out.UID, out.Version = string(cm.UID), cm.ResourceVersion
	if err := checkRecordRef(cm, out.Ref, p); err != nil {
		return out, err
	}
	if out.Past, err = readPast(cm.BinaryData[keyPast]); err != nil {
		out.PastFault = err.Error() // the rollout itself continues without them
	}
	if text, err = decompressTo(cm.BinaryData[keyBase], most); err != nil {
		return out, err
	}
	if err := json.Unmarshal(text, &out.Base); err != nil {
		return out, err
	}
	return out, nil
}

// decodeRecord reads what recordText makes of a record with a plan.
func decodeRecord(text []byte, p plan.Plan) (out plan.Record, err error) {
	if err := json.Unmarshal(text, &out); err != nil {
		return plan.Record{}, err
	}
	out.Plan = p
	return out, out.Progress.Check(p)
}

// checkRecordRef returns an error for a record that names another workload than the one it is
// stored for: what is shown of it, and the commands in hints, would be about that.
func checkRecordRef(cm *corev1.ConfigMap, ref cluster.Ref, p plan.Plan) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if _, name := recordLocation(ref, ""); name != cm.Name || ref.Namespace != "" && ref.Namespace != cm.Namespace {
		return fmt.Errorf("it is of %s in namespace %q, not of this one", ref, ref.Namespace)
	}
	if target := p.Target.Ref(); target != ref {
		return fmt.Errorf("its plan is for %s in namespace %q, not for %s", target, target.Namespace, ref)
	}
	return nil
}

// checkRef returns an error for what no workload in a cluster can be called: without its namespace, its
// record would be written in another one.
func checkRef(ref cluster.Ref) error {
	if k, _ := kruise.Lookup(ref.Group, ref.Kind); k.ClusterScoped != (ref.Namespace == "") {
		return fmt.Errorf("%s cannot be in namespace %q", ref, ref.Namespace)
	}
	return ref.Check()
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

// The bounds of past rollouts in a record, as kept and unpacked. A plan needs the room
// more: the oldest rollouts make way for it.
const (
	maxPastBytes         = 64 << 10
	maxPastUnpackedBytes = 1 << 20
)

// compressPast is past rollouts, oldest first, as they are kept in at most so many bytes; nil
// where none has room.
func compressPast(list []plan.PastRollout, most int) []byte {
	for list = plan.Recent(list); len(list) > 0; list = list[1:] {
		text, err := json.Marshal(list)
		if err != nil {
			return nil // times beyond the year 9999, in an edited record
		}
		if out := compress(text); len(out) <= most {
			return out
		}
	}
	return nil
}

// readPast reads past rollouts. Every user who may write ConfigMaps can write them: they are
// bounded here, and decide nothing.
func readPast(text []byte) ([]plan.PastRollout, error) {
	if len(text) == 0 {
		return nil, nil
	}
	text, err := decompressTo(text, maxPastUnpackedBytes)
	if err != nil {
		return nil, fmt.Errorf("past rollouts: %w", err)
	}
	var list []plan.PastRollout
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("past rollouts: %w", err)
	}
	return plan.Recent(list), nil
}
