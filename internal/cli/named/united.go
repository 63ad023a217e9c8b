package named

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// United is the name in uniteddeployment/NAME, with or without the group: a
// UnitedDeployment stands for several workloads, and [Parse] does not know it.
func United(arg string) (name string, ok bool) {
	kind, name, ok := strings.Cut(arg, "/")
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	if united, _ := kruise.Lookup(kruise.Group, kruise.KindUnitedDeployment); !slices.Contains(united.Words(), word) {
		return "", false
	}
	own := group == "" || group == kruise.Group || strings.HasSuffix(group, "."+kruise.Group)
	return name, ok && own && name != "" && !strings.Contains(name, "/")
}
