package factory

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

func TestCommandFlags_AreThoseOfTheUser(t *testing.T) {
	f := &Factory{Flags: genericclioptions.NewConfigFlags(true)}
	if got := f.CommandFlags(); got != "" {
		t.Errorf("without flags: %q", got)
	}
	*f.Flags.Namespace, *f.Flags.Context = "shop", "my cluster"
	if got, want := f.CommandFlags(), " -n shop --context 'my cluster'"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&Factory{}).CommandFlags(); got != "" {
		t.Errorf("without a cluster: %q", got)
	}
}
