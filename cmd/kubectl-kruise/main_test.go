package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// TestMain makes the program a command of the stories and of the pages.
func TestMain(m *testing.M) {
	testscript.Main(ownEnvironment{m}, map[string]func(){"kubectl-kruise": main, "kubectl_complete-kruise": main, "kubectl": asPlugin})
}

// ownEnvironment runs the tests in an environment of their own.
type ownEnvironment struct{ tests *testing.M }

// Run implements testscript.TestingM.
func (m ownEnvironment) Run() int { return hermetic.Run(m.tests) }

// TestStories_EndAsWritten runs testdata/script: one story per user task.
func TestStories_EndAsWritten(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			// A story that needs no kubeconfig fails if the program opens one.
			env.Setenv("KUBECONFIG", "/nonexistent/kubeconfig")
			env.Setenv(testenv.Hermetic, "1") // the program of a story is this test binary
			env.Setenv("CHECKOUT", checkout.Path())
			return nil
		},
	})
}
