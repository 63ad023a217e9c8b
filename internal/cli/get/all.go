package get

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// everyKind is what "all" stands for, in the older plugin's order
// (docs/facts/older-plugin.md#describe-get-completion) with the kinds that it did not know at the
// end. What Kruise makes for itself, one for every node, is left out.
var everyKind = []string{
	"clonesets." + kruise.Group, "statefulsets." + kruise.Group, "daemonsets." + kruise.Group, "rollouts." + release.Group,
	"broadcastjobs." + kruise.Group, "containerrecreaterequests." + kruise.Group, "advancedcronjobs." + kruise.Group,
	"resourcedistributions." + kruise.Group, "uniteddeployments." + kruise.Group, "sidecarsets." + kruise.Group,
	"podprobemarkers." + kruise.Group, "imagepulljobs." + kruise.Group, "podunavailablebudgets." + kruise.PolicyGroup,
	"workloadspreads." + kruise.Group, "persistentpodstates." + kruise.Group, "ephemeraljobs." + kruise.Group, "imagelistpulljobs." + kruise.Group,
}

// asksAll reports whether the types of an argument, with commas between them, hold
// "all".
func asksAll(args []string) bool {
	return len(args) > 0 && slices.Contains(strings.Split(args[0], ","), "all")
}

// spelledOut is the types of an argument, each with all that is served in its place.
func spelledOut(arg string, served []string) []string {
	var out []string
	for word := range strings.SplitSeq(arg, ",") {
		if word == "all" {
			out = append(out, served...)
			continue
		}
		out = append(out, word)
	}
	return out
}

// servedKinds are those of everyKind that the server has. An API that does not answer
// now is passed over.
func servedKinds(d discovery.DiscoveryInterface) ([]string, error) {
	lists, err := d.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	return among(lists), nil
}

func among(lists []*metav1.APIResourceList) []string {
	have := map[string]bool{}
	for _, l := range lists {
		group, _, _ := strings.Cut(l.GroupVersion, "/")
		for _, r := range l.APIResources {
			have[r.Name+"."+group] = slices.Contains(r.Verbs, "list")
		}
	}
	return slices.DeleteFunc(slices.Clone(everyKind), func(k string) bool { return !have[k] })
}
