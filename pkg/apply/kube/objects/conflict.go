package objects

import (
	"errors"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConflictError says which fields belong to other managers, in the server's words.
type ConflictError struct {
	status  metav1.Status
	Causes  []metav1.StatusCause
	managed []string
}

// Error says what kubectl says.
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
