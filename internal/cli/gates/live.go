package gates

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Given are the texts NAME=VALUE of --feature-gates of a manager.
func Given(manager corev1.Container) []string {
	return argued(slices.Concat(manager.Command, manager.Args))
}

func argued(args []string) []string {
	var out []string
	for i, a := range args {
		text, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "feature-gates")
		if !ok || !strings.HasPrefix(a, "-") {
			continue
		}
		if text == "" && i+1 < len(args) {
			text = args[i+1]
		}
		for one := range strings.SplitSeq(strings.TrimPrefix(text, "="), ",") {
			if one != "" {
				out = append(out, strings.TrimSpace(one))
			}
		}
	}
	return out
}

// Reader reads what one cluster has installed, and asks it once. Its zero value is ready.
type Reader struct {
	once    sync.Once
	manager release.Manager
	found   release.Found
	err     error
}

// Live returns the gates of a cluster: the defaults of the release of Kruise that it
// surely runs, else of the newest, what the arguments of its manager say and, above both,
// the flags. unread is why the manager could not be read; empty where it was, and where
// there is no Kruise. Errors are of usage.
func (r *Reader) Live(ctx context.Context, cfg *rest.Config, flags Flags) (set Set, unread string, err error) {
	r.once.Do(func() { r.read(ctx, cfg) })
	if r.err != nil {
		unread = r.err.Error()
	}
	var known kruise.Release
	if r.found.Sure { // a guess refuses nothing: where some definitions are missing, it is too old
		known = r.found.Release
	}
	set, err = flags.above(known, Given(r.manager.Container))
	return set, unread, err
}

// Live is that of a new [Reader].
func Live(ctx context.Context, cfg *rest.Config, flags Flags) (set Set, unread string, err error) {
	var r Reader
	return r.Live(ctx, cfg, flags)
}

// read asks for the manager and, where its image does not tell the release, for what the
// server has of Kruise.
func (r *Reader) read(ctx context.Context, cfg *rest.Config) {
	objects, err := dynamic.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		r.err = err
		return
	}
	server, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(cfg))
	if err != nil {
		r.err = err
		return
	}
	r.manager, r.err = release.FindManager(ctx, objects)
	r.found = release.Tell(ctx, r.manager, objects, server)
}

// start switches gates as a manager is told to; AllAlpha, AllBeta and gates that change no
// plan are not looked at.
func (s *Set) start(given []string) {
	for _, one := range given {
		name, value, _ := strings.Cut(one, "=")
		on, err := strconv.ParseBool(value)
		if gate := s.gate(name); gate != nil && err == nil {
			*gate = on
		}
	}
}
