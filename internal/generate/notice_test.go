package main

import (
	"bytes"
	"os"
	"testing"
)

// The file that releases carry is that of the modules in go.mod.
func TestNotice_IsThatOfTheModules(t *testing.T) {
	want, err := notice("../../cmd/kubectl-kruise")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../THIRD-PARTY-LICENSES")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("THIRD-PARTY-LICENSES is not that of go.mod: run make notice")
	}
}

func TestTextsOf_RefusesAModuleWithoutALicence(t *testing.T) {
	if _, err := textsOf(module{"example.com/x v1.0.0", t.TempDir()}); err == nil {
		t.Error("it has no licence")
	}
}
