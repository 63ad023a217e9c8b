package render

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Idle names the kind that an option is about although the target keeps objects of
// that kind as they are, and the value of the option; both are empty where every
// option has an effect. What [Auto] comes to is the cluster's to say.
func (o Options) Idle() (kind, value string) {
	for _, about := range []struct {
		kind, value string
		given       bool
	}{
		{kruise.KindSidecarSet, string(o.SidecarSetAs), o.SidecarSetAs == stage.Admission},
		{kruise.KindWorkloadSpread, string(o.SpreadAs), o.SpreadAs == stage.SpreadConstraints},
	} {
		expanded := slices.ContainsFunc(o.Expand, func(kind string) bool { return strings.EqualFold(kind, about.kind) })
		if about.given && o.Target == Kruise && !expanded {
			return about.kind, about.value
		}
	}
	return "", ""
}
