package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// Try has the server answer a request without carrying it out, and returns why it
// would be refused now by one who writes as manager, "" for [FieldManager]; of what a patch tests nothing is said, since it is about a
// moment. A request without a body, such as an exec, is not sent.
func Try(ctx context.Context, c rest.Interface, manager string, r event.Request) error {
	if r.Body == nil {
		return nil
	}
	body, err := json.Marshal(r.Body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	to := c.Verb(r.Method).AbsPath(r.Path).
		Param("dryRun", metav1.DryRunAll).Param("fieldManager", cmp.Or(manager, FieldManager)).
		SetHeader("Content-Type", r.ContentType).Body(body)
	if r.ContentType == string(types.ApplyPatchType) {
		to = to.Param("force", "true")
	}
	if err := to.Do(ctx).Error(); err != nil && (r.Method != http.MethodPatch || !isFailedTest(err)) {
		return fmt.Errorf("%s %s: %s", r.Method, r.Path, reasonOf(err))
	}
	return nil
}
