package fn

import (
	"bytes"
	"regexp"
)

// The first document of a text is a ResourceList when both are in it: as lines
// of their own, or, in JSON, anywhere before the items.
var (
	kindLine    = regexp.MustCompile(`(?m)^["']?kind["']?[ \t]*:[ \t]+["']?ResourceList["']?[ \t]*(#.*)?\r?$`)
	versionLine = regexp.MustCompile(`(?m)^["']?apiVersion["']?[ \t]*:[ \t]+["']?config\.kubernetes\.io/`)
	kindFlow    = regexp.MustCompile(`["']?kind["']?\s*:\s*["']?ResourceList\b`)
	versionFlow = regexp.MustCompile(`["']?apiVersion["']?\s*:\s*["']?config\.kubernetes\.io/`)
)

// IsResourceList reports whether a text that begins with prefix is the input
// of a KRM function, so that a program without arguments knows its role.
// kustomize and kpt write apiVersion and kind first; a prefix of some
// kilobytes is enough.
func IsResourceList(prefix []byte) bool {
	prefix = bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimLeft(prefix, " \t\r\n"), []byte("{")) {
		return kindFlow.Match(prefix) && versionFlow.Match(prefix)
	}
	return kindLine.Match(prefix) && versionLine.Match(prefix)
}
