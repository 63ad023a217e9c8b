package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the program a command of the stories and of the pages.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-kruise": main, "kubectl": asPlugin})
}

// TestStories runs testdata/script: one story per user task.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			// Whoever opens a kubeconfig in a story that needs none must fail.
			env.Setenv("KUBECONFIG", "/nonexistent/kubeconfig")
			return nil
		},
	})
}
