package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

// TestMain makes the program a command of the stories and of the pages.
func TestMain(m *testing.M) {
	testscript.Main(ownEnvironment{m}, map[string]func(){"kubectl-kruise": main, "kubectl_complete-kruise": main, "kubectl": asPlugin})
}

// ownEnvironment runs the tests in an environment of their own, with the commands that
// testscript has put first on the PATH.
type ownEnvironment struct{ tests *testing.M }

// Run implements testscript.TestingM.
func (m ownEnvironment) Run() int {
	return hermetic.Run(withCommands{m.tests, filepath.SplitList(os.Getenv("PATH"))[0]})
}

// withCommands puts a folder of programs first on the PATH that tests have.
type withCommands struct {
	tests    *testing.M
	commands string
}

// Run runs the tests.
func (m withCommands) Run() int {
	if err := os.Setenv("PATH", m.commands+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return m.tests.Run()
}

// TestStories_EndAsWritten runs testdata/script: one story per user task.
func TestStories_EndAsWritten(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			// A story that needs no kubeconfig fails if the program opens one.
			env.Setenv("KUBECONFIG", "/nonexistent/kubeconfig")
			env.Setenv("CHECKOUT", checkout.Path())
			return nil
		},
	})
}
