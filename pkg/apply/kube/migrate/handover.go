package migrate

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Keys of the ConfigMap that a handover is kept in.
const (
	keyRecord = "record"
	keyOld    = "old"
	keyNew    = "new"
	keyGuards = "guards"
)

// Kept is the name of the ConfigMap that the handover of a DaemonSet is kept in, in
// either direction.
func Kept(name string) string { return "kubectl-kruise-migration-daemonset-" + name }

// Handover is the migration of a DaemonSet. Between the deletion of the old object and
// the creation of the new one neither is in the cluster: both are kept in a ConfigMap
// from before the one until after the other.
type Handover struct {
	Record migrate.Handover
	// Old is the object as it was, New as it shall be in the end.
	Old, New *unstructured.Unstructured
	// Guards name the workload in a targetRef that cannot change: they are recreated
	// under their names, which pods remember, once the new workload is there.
	Guards []*unstructured.Unstructured
	// Emit is told of every step that differs from the one before.
	Emit func(HandoverStep)

	client    *Client
	from, to  schema.GroupVersionResource
	followers []Follower
	// guarded says that all guards look after the new workload.
	guarded bool
}

// HandoverOf reads the handover of a DaemonSet that is on record; nil for none.
func (c *Client) HandoverOf(ctx context.Context, name string) (*Handover, error) {
	u, err := c.of(configMaps).Get(ctx, Kept(name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	if err != nil {
		return nil, err
	}
	h := &Handover{}
	if err := h.read(u); err != nil {
		return nil, err
	}
	if err := h.check(c.namespace, name); err != nil {
		return nil, fmt.Errorf("configmap/%s holds no migration that was begun here: %w", u.GetName(), err)
	}
	return h, nil
}

func (h *Handover) read(u *unstructured.Unstructured) error {
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	for key, into := range map[string]any{keyRecord: &h.Record, keyOld: &h.Old, keyNew: &h.New, keyGuards: &h.Guards} {
		if err := json.Unmarshal([]byte(data[key]), into); err != nil {
			return fmt.Errorf("configmap/%s: %s: %w", u.GetName(), key, err)
		}
	}
	return nil
}

// keep puts the handover on record, in the place of one the other way.
func (h *Handover) keep(ctx context.Context) error {
	data := map[string]any{}
	for key, value := range map[string]any{keyRecord: h.Record, keyOld: h.Old, keyNew: h.New, keyGuards: h.Guards} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		data[key] = string(text)
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": Kept(h.Record.To.Name), "labels": map[string]any{"app.kubernetes.io/managed-by": manager}},
		"data":     data,
	}}
	client := h.client.of(configMaps)
	_, err := client.Create(ctx, u, metav1.CreateOptions{FieldManager: manager})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there, err := client.Get(ctx, u.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	return h.client.merge(ctx, configMaps, there, map[string]any{"data": data})
}

// turn puts the pods whose turn it is on record, unless somebody was faster.
func (h *Handover) turn(ctx context.Context, kept *unstructured.Unstructured, pods []migrate.Daemon) error {
	r := h.Record
	r.Turn = nil
	for _, p := range pods {
		r.Turn = append(r.Turn, p.UID)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return h.client.merge(ctx, configMaps, kept, map[string]any{"data": map[string]any{keyRecord: string(text)}})
}

// forget takes the handover off the record.
func (h *Handover) forget(ctx context.Context) error {
	err := h.client.of(configMaps).Delete(ctx, Kept(h.Record.To.Name), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
