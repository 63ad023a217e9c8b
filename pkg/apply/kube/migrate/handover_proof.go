package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// A handover is recorded in a ConfigMap, which more users may write than may write
// DaemonSets, and objects are made of it. This file says what a record may hold at all, and
// what of it only its word vouches for.

// check returns an error for a record that no handover of this DaemonSet has written.
func (h *Handover) check(namespace, name string) error {
	from, to := migrate.Of(h.Record.From.Group, h.Record.From.Kind), migrate.Of(h.Record.To.Group, h.Record.To.Kind)
	if from == nil || to == nil || from == to || from.Kind != kruise.KindDaemonSet || to.Kind != kruise.KindDaemonSet || h.Record.From.Name != name || h.Record.To.Name != name {
		return fmt.Errorf("%s to %s is not a migration of the DaemonSet %s", h.Record.From, h.Record.To, name)
	}
	for _, side := range []struct {
		object *unstructured.Unstructured
		of     *migrate.Kind
	}{{h.Old, from}, {h.New, to}} {
		if err := checkObject(side.object, namespace, schema.GroupKind{Group: side.of.Group, Kind: side.of.Kind}); err != nil {
			return err
		}
		if side.object.GetName() != name {
			return fmt.Errorf("it holds another object, %s", titleOf(side.object))
		}
	}
	var guards []schema.GroupKind
	for _, f := range followed {
		if f.fixed {
			guards = append(guards, f.GroupKind)
		}
	}
	for _, g := range h.Guards {
		if err := checkObject(g, namespace, guards...); err != nil {
			return err
		}
	}
	return nil
}

// checkObject checks the kind and the namespace of an object in a record.
func checkObject(u *unstructured.Unstructured, namespace string, kinds ...schema.GroupKind) error {
	switch {
	case u == nil || u.Object == nil:
		return errors.New("an object is missing in it")
	case !slices.Contains(kinds, u.GroupVersionKind().GroupKind()):
		return fmt.Errorf("it holds another object, %s of %s", titleOf(u), u.GetAPIVersion())
	case u.GetNamespace() != "" && u.GetNamespace() != namespace:
		return fmt.Errorf("it holds an object of another namespace, %s of %s", titleOf(u), u.GetNamespace())
	}
	return nil
}

// Digest identifies what a user approves with a handover: its sides, its pace and all
// objects that may be made of its record. clusterID is as for [plan.Plan.Digest].
func (h *Handover) Digest(clusterID, namespace string) string {
	r := h.Record
	text, err := json.Marshal([]any{"handover-1", clusterID, namespace, r.From, r.To, r.UID, r.Surge, h.Old, h.New, h.Guards})
	if err != nil {
		return "" // decoded JSON always encodes
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// Unproven returns the objects that would be made as the record has them, because they are
// not in the cluster.
func (c *Client) Unproven(ctx context.Context, h *Handover) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	there, err := c.Get(ctx, migrate.Of(h.Record.To.Group, h.Record.To.Kind), h.Record.To.Name)
	if err != nil {
		return nil, err
	}
	if there == nil {
		out = append(out, h.New)
	}
	for _, g := range h.Guards {
		gvr, ok, err := c.optional(g.GroupVersionKind().GroupKind())
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if _, err = c.resource(gvr).Get(ctx, g.GetName(), metav1.GetOptions{}); apierrors.IsNotFound(err) {
			out = append(out, g)
		} else if err != nil {
			return nil, err
		}
	}
	return out, nil
}
