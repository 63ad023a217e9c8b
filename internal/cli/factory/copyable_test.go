package factory

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

func TestCopyable_AddsTheFlagsOfTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, context, kubeconfig string
		text, want                     string
	}{
		"no flags": {
			text: "'kubectl kruise rollout show cloneset/web' shows it", want: "'kubectl kruise rollout show cloneset/web' shows it",
		},
		"all flags": {
			namespace: "shop", context: "prod", kubeconfig: "/etc/kube.yaml",
			text: "'kubectl kruise rollout show' shows it", want: "'kubectl kruise rollout show -n shop --context prod --kubeconfig /etc/kube.yaml' shows it",
		},
		"the namespace is there": {
			namespace: "shop", context: "prod",
			text: "'kubectl kruise rollout show cloneset/web -n other' shows it", want: "'kubectl kruise rollout show cloneset/web -n other --context prod' shows it",
		},
		"all namespaces": {
			namespace: "shop", text: "'kubectl kruise rollout status -A'", want: "'kubectl kruise rollout status -A'",
		},
		"a kind without a namespace": {
			namespace: "default", context: "prod", text: "'kubectl kruise rollout retry sidecarset/mesh'", want: "'kubectl kruise rollout retry sidecarset/mesh --context prod'",
		},
		"its group is named": {
			namespace: "default", text: "'kubectl get sidecarsets.apps.kruise.io/mesh' shows it", want: "'kubectl get sidecarsets.apps.kruise.io/mesh' shows it",
		},
		"several commands": {
			context: "prod", text: "'kubectl kruise rollout retry', or 'kubectl kruise rollout abort --rollback'; then apply again",
			want: "'kubectl kruise rollout retry --context prod', or 'kubectl kruise rollout abort --rollback --context prod'; then apply again",
		},
		"a pipe": {
			namespace: "shop", context: "prod", text: "'kubectl kruise rbac --runner | kubectl apply -f -' creates it",
			want: "'kubectl kruise rbac --runner | kubectl apply -f - --context prod' creates it",
		},
		"a command without a cluster": {context: "prod", text: "'kubectl kruise rbac' prints them", want: "'kubectl kruise rbac' prints them"},
		"the text is a command":       {namespace: "shop", text: "kubectl kruise rollout resume cloneset/web", want: "kubectl kruise rollout resume cloneset/web -n shop"},
		"kubectl itself":              {namespace: "shop", context: "prod", text: "'kubectl logs --previous web-1 -n a' shows it", want: "'kubectl logs --previous web-1 -n a --context prod' shows it"},
		"krew":                        {context: "prod", text: "kubectl krew upgrade", want: "kubectl krew upgrade"},
		"help":                        {context: "prod", text: "see 'kubectl kruise get --help'", want: "see 'kubectl kruise get --help'"},
		"no command":                  {context: "prod", text: "it's kubectl kruise's", want: "it's kubectl kruise's"},
		"a value with a blank": {
			context: `my "prod"`, text: "'kubectl kruise ui'", want: `'kubectl kruise ui --context "my \"prod\""'`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(Streams{})
			f.Flags.Namespace, f.Flags.Context, f.Flags.KubeConfig = &c.namespace, &c.context, &c.kubeconfig
			if got := f.Copyable(c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCommandFlags_AreThoseOfTheUser(t *testing.T) {
	f := &Factory{Flags: genericclioptions.NewConfigFlags(true)}
	if got := f.commandFlags(); got != "" {
		t.Errorf("without flags: %q", got)
	}
	*f.Flags.Namespace, *f.Flags.Context = "shop", "my cluster"
	if got, want := f.commandFlags(), " -n shop --context 'my cluster'"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&Factory{}).commandFlags(); got != "" {
		t.Errorf("without a cluster: %q", got)
	}
}
