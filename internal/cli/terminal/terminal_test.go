package terminal

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, false},
		{map[string]string{"TERM": "linux", "LANG": "C.UTF-8"}, true},
	} {
		if got := factory.ASCII(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

func TestCheck(t *testing.T) {
	if Check(factory.Streams{InTTY: true}, "do that") == nil || Check(factory.Streams{InTTY: true, OutTTY: true}, "") != nil {
		t.Error("the interface would run in a pipe, or not on a terminal")
	}
}
