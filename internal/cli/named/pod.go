package named

import (
	"slices"
	"strings"
)

// Pod reads pod/NAME. A pod is no workload, and [Parse] does not know it; but it has a
// rollout of its own where nobody owns it and its containers restart.
func Pod(arg string) (Name, bool) {
	kind, name, typed := strings.Cut(arg, "/")
	if !typed || name == "" || strings.Contains(name, "/") || !slices.Contains([]string{"pod", "pods", "po"}, strings.ToLower(kind)) {
		return Name{}, false
	}
	return Of(pods, name), true
}

// ParseAny reads TYPE/NAME as [Parse] does, and pod/NAME. Errors are of usage.
func ParseAny(arg string) (Name, error) {
	if n, ok := Pod(arg); ok {
		return n, nil
	}
	return Parse(arg)
}
