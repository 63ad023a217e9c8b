package objects

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// Apply describes how an object is applied.
type Apply struct {
	// Force takes fields from other managers.
	Force bool
	// DryRun has the server answer without writing.
	DryRun bool
	// Ours are further managers that are this tool: fields are taken from them
	// without being asked to.
	Ours []string
}

// Apply applies an object on the server's side. Fields that belong to others are a
// *ConflictError; nothing is written then.
func (c *Client) Apply(ctx context.Context, u *unstructured.Unstructured, a Apply) (*unstructured.Unstructured, error) {
	got, err := c.send(ctx, u, a)
	conflict := conflictOf(err)
	if conflict == nil || a.Force {
		return got, err
	}
	if !conflict.with(append(a.Ours, c.FieldManager)) {
		return nil, conflict
	}
	// Rollouts write by patches, whose fields the server keeps apart from those that
	// the same manager has applied.
	a.Force = true
	return c.send(ctx, u, a)
}

func (c *Client) send(ctx context.Context, u *unstructured.Unstructured, a Apply) (*unstructured.Unstructured, error) {
	client, err := c.resource(u)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(u.Object)
	if err != nil {
		return nil, err
	}
	return client.Patch(ctx, u.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: c.FieldManager, Force: &a.Force, DryRun: dryRunOption(a.DryRun), FieldValidation: metav1.FieldValidationStrict,
	})
}

// Merge sends a merge patch.
func (c *Client) Merge(ctx context.Context, u *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	return c.patch(ctx, u, types.MergePatchType, patch)
}

func (c *Client) patch(ctx context.Context, u *unstructured.Unstructured, kind types.PatchType, patch []byte) (*unstructured.Unstructured, error) {
	client, err := c.resource(u)
	if err != nil {
		return nil, err
	}
	return client.Patch(ctx, u.GetName(), kind, patch, metav1.PatchOptions{FieldManager: c.FieldManager})
}

// Adopt has what managers wrote by patches count as applied, so that the next apply
// removes what it does not name any more. It changes nothing but who owns what, and
// returns the object as it is then; one that is written meanwhile is read again.
func (c *Client) Adopt(ctx context.Context, u *unstructured.Unstructured, managers ...string) (*unstructured.Unstructured, error) {
	for {
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(u, sets.New(managers...), c.FieldManager)
		if err != nil || patch == nil {
			return u, err
		}
		got, err := c.patch(ctx, u, types.JSONPatchType, patch)
		if !apierrors.IsConflict(err) {
			return got, err
		}
		if got, err = c.Get(ctx, u); err != nil || got == nil {
			return got, err
		}
		u = got
	}
}

// ClientSide are the managers that have applied an object on the client's side, as kubectl apply
// without --server-side does: they have written what was last applied into its annotation.
func ClientSide(u *unstructured.Unstructured) []string {
	names := sets.New[string]()
	for _, entry := range u.GetManagedFields() {
		var fields struct {
			Metadata struct {
				Annotations struct {
					LastApplied *struct{} `json:"f:kubectl.kubernetes.io/last-applied-configuration"`
				} `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if entry.Operation != metav1.ManagedFieldsOperationUpdate || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil && fields.Metadata.Annotations.LastApplied != nil {
			names.Insert(entry.Manager)
		}
	}
	return sets.List(names)
}

// ConflictError lists the fields that belong to other managers, in the server's words.
type ConflictError struct {
	status  metav1.Status
	Causes  []metav1.StatusCause
	managed []string
}

// Error describes what kubectl says.
func (e *ConflictError) Error() string { return e.status.Message }

// ConflictHint is kubectl's advice about conflicts.
const ConflictHint = `Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the ` + "`--force-conflicts`" + ` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`

// managerIn finds the manager in the words of a cause: conflict with "NAME" with
// subresource … using VERSION at TIME.
var managerIn = regexp.MustCompile(`^conflict with "((?:[^"\\]|\\.)*)"`)

// conflictOf is the conflict in an answer, nil for any other.
func conflictOf(err error) *ConflictError {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) || status.Status().Details == nil {
		return nil
	}
	e := &ConflictError{status: status.Status()}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		e.Causes = append(e.Causes, cause)
		if m := managerIn.FindStringSubmatch(cause.Message); m != nil {
			e.managed = append(e.managed, m[1])
		}
	}
	if len(e.Causes) == 0 {
		return nil
	}
	return e
}

// with reports whether the conflict is with these managers alone.
func (e *ConflictError) with(managers []string) bool {
	return len(e.managed) == len(e.Causes) && !slices.ContainsFunc(e.managed, func(m string) bool { return !slices.Contains(managers, m) })
}
