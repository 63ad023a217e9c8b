package stage

import (
	"fmt"
	"regexp"
	"strconv"
)

// The minor versions of Kubernetes 1 that rendering knows.
const (
	OldestKubernetes = 29
	NewestKubernetes = 37
)

// Since reports whether the output's API server is of this minor version of
// Kubernetes 1 or a newer one.
func (c *Context) Since(minor int) bool {
	return c.Kubernetes == 0 || c.Kubernetes >= minor
}

// kubernetesVersion also matches the version that a server reports, such as v1.36.3-gke.100 or
// 1.36+.
var kubernetesVersion = regexp.MustCompile(`^v?1\.([0-9]{1,3})([.+-].*)?$`)

// ParseKubernetes returns the minor version in a text such as 1.36 or v1.36.3.
// A version newer than all that are known counts as the newest.
func ParseKubernetes(text string) (minor int, err error) {
	m := kubernetesVersion.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a version of Kubernetes such as 1.%d", text, NewestKubernetes)
	}
	minor, _ = strconv.Atoi(m[1])
	if minor < OldestKubernetes {
		return 0, fmt.Errorf("Kubernetes 1.%d is older than 1.%d, the oldest that can be rendered for", minor, OldestKubernetes) //nolint:staticcheck // a proper name
	}
	return min(minor, NewestKubernetes), nil
}
