package kubectl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Err is what the options of a command of kubectl returned, as our verbs return it: each of
// several failures by itself, a wrong call as an error of usage, a type that the
// server does not have with a hint.
func Err(err error) error {
	var out resource.Errors
	for _, e := range apart(err) {
		out.Add(one(e))
	}
	return out.Err()
}

// apart lists the failures that an error holds.
func apart(err error) []error {
	many, ok := errors.AsType[utilerrors.Aggregate](err)
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range many.Errors() {
		out = append(out, apart(e)...)
	}
	return out
}

func one(err error) error {
	if err == nil {
		return nil
	}
	if what, see, ok := strings.Cut(err.Error(), "\nSee '"); ok {
		return command.Usagef("see '"+strings.Replace(see, " -h' for help and examples", " --help'", 1), "%s", tidy(what))
	}
	if hint := Hint(err); hint != "" {
		return &resource.Error{Err: err, Hint: hint}
	}
	return err
}

// tidy makes a sentence of kubectl's the tail of a line.
func tidy(what string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(what), "\n")
	first = strings.TrimSuffix(first, ".")
	return strings.ToLower(first[:min(1, len(first))]) + first[min(1, len(first)):]
}

var missing = regexp.MustCompile(`the server doesn't have a resource type "([^"]+)"|no matches for kind "([^"]+)"`)

// others are words for kinds of Kruise that no cluster takes, and for those of Kruise
// Rollout.
var others = map[string]string{
	"ppm": kruise.KindPodProbeMarker, "rd": kruise.KindResourceDistribution, "rollout": "Rollout", "rollouts": "Rollout",
}

// Hint advises on the error of a type that the server does not have; "" on others.
func Hint(err error) string {
	word := lacking(err)
	if word == "" {
		return ""
	}
	if m := inVersion.FindStringSubmatch(err.Error()); m != nil {
		if hint := elsewhere(m[1], m[2], m[3]); hint != "" {
			return hint
		}
	}
	if _, ok := KindOf(word); ok {
		return "this cluster has no Kruise, or not that kind; 'kubectl get all -l " + kruise.SourceLabel + "' finds what was rendered for it"
	}
	return "'kubectl kruise api-resources' lists the types"
}

// inVersion is a kind that a server does not have in one version.
var inVersion = regexp.MustCompile(`no matches for kind "([^"]+)" in version "([^"/]+)/([^"]+)"`)

// elsewhere advises on a kind of Kruise in a version that not all releases serve; "" on
// others.
func elsewhere(kind, group, version string) string {
	k, ours := kruise.Lookup(group, kind)
	in, some := kruise.ServedIn(group, kind, version)
	if !ours || !some || in.Has(kruise.OldestRecorded) || len(k.Versions) < 2 {
		return ""
	}
	return fmt.Sprintf("%s is served as %s %s: 'kubectl kruise convert -f FILE --to-version %s' writes it for every release", kind, version, in.Words(), k.Versions[0])
}

// LacksKruise reports whether an error is that the server does not have a kind of Kruise.
func LacksKruise(err error) bool {
	_, ok := KindOf(lacking(err))
	return ok
}

// lacking is the type that the server does not have, without its group; "" for any other
// error.
func lacking(err error) string {
	if err == nil {
		return ""
	}
	m := missing.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.ToLower(m[1]+m[2]), ".")
	return word
}

// nativeShort is a short name of Kruise's StatefulSet that Kubernetes' has too.
const nativeShort = "sts"

// KindOf is the kind of Kruise, or of Kruise Rollout, that a word can mean: its name, one
// or many, or a short name.
func KindOf(word string) (kind string, ok bool) {
	if kind, ok := others[word]; ok {
		return kind, true
	}
	for _, k := range kruise.Kinds() {
		if slices.Contains(k.Words(), word) && word != nativeShort {
			return k.Kind, true
		}
	}
	return "", false
}

// Until runs what does not look at ctx, and leaves it behind when ctx ends: the process
// is about to end, too.
func Until(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return Interrupted(ctx, err)
	case <-ctx.Done():
		return command.ErrInterrupted
	}
}

// Interrupted is the end of what followed something: where it ended because a user
// ended it, nothing is left to say.
func Interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return command.ErrInterrupted
	}
	return err
}

// TakeSignals has cancel called at the next signal, and no other listener is notified. kubectl's
// library listens, too, once it follows something, and ends the process itself, with a
// code of its own: call this behind its back.
func TakeSignals(cancel func()) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	signal.Reset(ends...)
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-got
		signal.Stop(got)
		cancel()
	}()
}
