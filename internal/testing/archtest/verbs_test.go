package archtest

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shared are the packages below internal/cli that verbs share; every other one has verbs.
var shared = []string{
	"clusterread", "command", "factory", "gitops", "input", "installation", "kubectl", "kubectl/english",
	"planning", "resourcearg", "rollout/execute", "rollout/live", "rollout/runner", "rollout/session", "submit", "terminal", "version",
}

// verbsOf lists the packages with verbs that another one may import, with the reason.
var verbsOf = map[string]map[string]string{
	"apply": {"render": "what is applied is rendered first, with the flags of render"},
	"ui":    {"inspect": "the screen of an object shows what describe prints", "restart": "the key of restart"},
}

// TestVerbs_ImportOnlyWhatTheyShare: verbs do not import each other, and what they share imports no verb.
func TestVerbs_ImportOnlyWhatTheyShare(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(dir, path string, file *ast.File) {
		from, ok := strings.CutPrefix(dir, "internal/cli/")
		if !ok {
			return
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			_, to, ok := strings.Cut(imported, "/internal/cli/")
			switch {
			case !ok || to == from || slices.Contains(shared, to):
			case verbsOf[from][to] != "":
				used[from+" "+to] = true
			default:
				t.Errorf("%s imports internal/cli/%s, which has verbs: move what both need into a package that verbs share", path, to)
			}
		}
	})
	for from, list := range verbsOf {
		for to := range list {
			if !used[from+" "+to] {
				t.Errorf("internal/cli/%s does not import internal/cli/%s any more: remove the exception", from, to)
			}
		}
	}
}
