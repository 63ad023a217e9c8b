package kubectl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func TestErr(t *testing.T) {
	wrong := cmdutil.UsageErrorf(&cobra.Command{Use: "get"}, "Required resource not specified.")
	none := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}}
	for name, c := range map[string]struct {
		err        error
		say, hints []string
	}{
		"none":          {},
		"plain":         {err: errors.New("pods \"a\" not found"), say: []string{"pods \"a\" not found"}, hints: []string{""}},
		"usage":         {err: wrong, say: []string{"required resource not specified"}, hints: []string{"see 'get --help'"}},
		"type unknown":  {err: none, say: []string{none.Error()}, hints: []string{kubectl.Hint(none)}},
		"each of many":  {err: utilerrors.NewAggregate([]error{errors.New("a"), utilerrors.NewAggregate([]error{errors.New("b"), errors.New("c")})}), say: []string{"a", "b", "c"}, hints: []string{"", "", ""}},
		"many of usage": {err: utilerrors.NewAggregate([]error{wrong}), say: []string{"required resource not specified"}, hints: []string{"see 'get --help'"}},
	} {
		t.Run(name, func(t *testing.T) {
			var all resource.Errors
			all.Add(kubectl.Err(c.err))
			var say, hints []string
			for _, e := range all {
				say, hints = append(say, e.Error()), append(hints, hintOf(e))
			}
			if diff := cmp.Diff(c.say, say) + cmp.Diff(c.hints, hints); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*command.UsageError](err); ok {
		return e.Hint
	}
	if e, ok := errors.AsType[*resource.Error](err); ok {
		return e.Hint
	}
	return ""
}

// TestFactory_FollowsChangedFlags: clients go where kubectl's flags say.
func TestFactory_FollowsChangedFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	var out strings.Builder
	f := factory.New(factory.Streams{Out: &out, Err: &out})
	*f.Flags.APIServer = "https://example.com:6443"
	cfg, err := kubectl.Factory(f).ToRESTConfig()
	if err != nil || cfg.Host != "https://example.com:6443" {
		t.Errorf("%+v, %v", cfg, err)
	}
	if _, err := rest.RESTClientFor(cfg); err != nil {
		t.Errorf("no client can be made of it: %v", err)
	}
	if s := kubectl.RawStreams(f); s.Out != &out || s.ErrOut != &out {
		t.Error("other streams")
	}
	// Commands are built before the streams of their verb are known.
	s, verb := kubectl.Streams(f), &strings.Builder{}
	f.Streams.Out = verb
	if _, err := s.Out.Write([]byte("x")); err != nil || verb.String() != "x" || out.Len() > 0 {
		t.Errorf("%q is written to the verb's stream, %q to the other, %v", verb, &out, err)
	}
}

func TestHint(t *testing.T) {
	const lacks, lists = "this cluster has no Kruise", "'kubectl kruise api-resources'"
	for text, want := range map[string]string{
		`the server doesn't have a resource type "clone"`:                       lacks,
		`the server doesn't have a resource type "SidecarSets"`:                 lacks,
		`the server doesn't have a resource type "clonesets.apps.kruise.io"`:    lacks,
		`no matches for kind "CloneSet" in version "apps.kruise.io/v1beta1"`:    "CloneSet is served as v1beta1 only in versions after Kruise 1.9: 'kubectl kruise convert -f FILE --to-version v1alpha1' writes it for every release",
		`no matches for kind "SidecarSet" in version "apps.kruise.io/v1beta1"`:  "SidecarSet is served as v1beta1 since Kruise 1.9: ",
		`no matches for kind "StatefulSet" in version "apps.kruise.io/v1beta1"`: lacks,
		`no matches for kind "CloneSet" in version "apps.kruise.io/v1alpha1"`:   lacks,
		`no matches for kind "Gizmo" in version "apps.kruise.io/v1beta1"`:       lists,
		`no matches for kind "CloneSet" in group "apps.kruise.io"`:              lacks,
		`the server has no X: no matches for kind "PodUnavailableBudget" in v1`: lacks,
		`the server doesn't have a resource type "nonsense"`:                    lists,
		`pods "clone" not found`: "",
	} {
		if got := kubectl.Hint(errors.New(text)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", text, got)
		}
	}
	if kubectl.Hint(nil) != "" {
		t.Error("advice without an error")
	}
}
