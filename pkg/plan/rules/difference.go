package rules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// PathText writes a path as users know it: spec.containers[0].image,
// metadata.annotations["a.b/c"].
func PathText(path []string) string {
	var out strings.Builder
	for _, step := range path {
		switch _, err := strconv.Atoi(step); {
		case err == nil:
			fmt.Fprintf(&out, "[%s]", step)
		case !plainKey.MatchString(step):
			fmt.Fprintf(&out, "[%q]", step)
		case out.Len() > 0:
			out.WriteString("." + step)
		default:
			out.WriteString(step)
		}
	}
	return out.String()
}
