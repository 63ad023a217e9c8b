package plan

import (
	"reflect"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
)

// Shown is the body of one of the plan's patches as it may be read by anybody: what is
// likely to be secret in it is [mask.Masked]. The patch itself is sent as it is.
func (p *Plan) Shown(patch Patch) any {
	return mask.Patch(patch.Body, func(value any) bool {
		// What a difference of the templates shows in the open is no secret here either.
		for _, f := range p.Change.Fields {
			if reflect.DeepEqual(f.New, value) || reflect.DeepEqual(f.Old, value) {
				return true
			}
		}
		return false
	})
}
