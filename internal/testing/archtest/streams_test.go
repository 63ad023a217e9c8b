package archtest

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStreams_AreOnlyThoseOfTheVerb: the product prints to the writers that a verb is given, through which no text
// of an input acts (internal/cli/media.go). Only the places in the list touch the process's
// own streams, and only programs that draw on a terminal go around the writers.
func TestStreams_AreOnlyThoseOfTheVerb(t *testing.T) {
	allowed := map[string][]string{
		"os.Stdout":   {"internal/cli/factory/factory.go", "pkg/render/load/isolated/isolated.go"},
		"os.Stderr":   {"internal/cli/factory/factory.go", "pkg/render/load/isolated/isolated.go", "pkg/render/load/isolated/confine.go", "pkg/render/load/kustomize.go"},
		"text.Unwrap": {"internal/cli/terminal/terminal.go", "internal/cli/rollout/execute/event_printer.go", "internal/cli/factory/working.go"},
		"safe.Unwrap": {"internal/cli/inspect/describe_rollout.go"},
	}
	onlyAt(t, allowed, "print to the streams that the verb is given", func(path, name string) {
		if strings.HasPrefix(name, "fmt.Print") {
			t.Errorf("%s prints to the process's own standard output", path)
		}
	})
}

// TestFiles_AreOpenedInOnePlace: what a person names is opened by package load, which takes no device,
// no pipe without a writer and no more bytes than the limit, and what the content of a file
// names by package rooted. The files in the list are named by neither, or written by this
// program itself.
func TestFiles_AreOpenedInOnePlace(t *testing.T) {
	const (
		approvals = "internal/cli/planning/approval.go" // the notes of this user, and the authority of a kubeconfig
		receipt   = "internal/cli/version/installed.go" // krew's own
		opener    = "pkg/render/load/source.go"
		pipe      = "pkg/render/emit/update.go"            // a pipe or a device that is written to
		chart     = "internal/cli/render/argocd_schema.go" // what is packed into a chart
		record    = "pkg/apply/kube/stored.go"
		answer    = "pkg/apply/kube/verify/command_url.go"
		list      = "pkg/render/fn/fn.go"
	)
	allowed := map[string][]string{
		"os.Open": {approvals}, "os.OpenFile": {opener, approvals, pipe}, "os.ReadFile": {approvals, receipt},
		"os.OpenInRoot": nil, "os.DirFS": nil, "ioutil.ReadFile": nil, "ioutil.ReadAll": nil,
		"io.ReadAll": {chart, record, answer, list}, // each from a reader with a limit
	}
	onlyAt(t, allowed, "open it with load.File or through package rooted, and read with a limit", func(string, string) {})
}

// onlyAt refuses selectors such as os.Open in files of the product that the list does not have for
// them, and files of the list without them. Each selector is handed to look, too.
func onlyAt(t *testing.T, allowed map[string][]string, instead string, look func(path, name string)) {
	t.Helper()
	seen := map[string]bool{}
	tools := []string{"internal/testing", "internal/generate", "internal/krew"}
	eachFile(t, func(dir, path string, file *ast.File) {
		path = dir + "/" + filepath.Base(path)
		if inside(dir, tools) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := x.Name + "." + s.Sel.Name
			look(path, name)
			switch places, listed := allowed[name]; {
			case listed && !slices.Contains(places, path):
				t.Errorf("%s uses %s: %s", path, name, instead)
			case listed:
				seen[name+" "+path] = true
			}
			return true
		})
	})
	for name, places := range allowed {
		for _, p := range places {
			if !seen[name+" "+p] {
				t.Errorf("%s uses %s no more: take it off the list", p, name)
			}
		}
	}
}
