package doctor

import (
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installed"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
)

// client reports which build this is, which program kubectl runs as the plugin, and which
// one krew has installed.
func client(getenv func(string) string) []verdict.Line {
	i := version.Get()
	out := []verdict.Line{verdict.Good("client", "kubectl-kruise %s, %s", i.Version, i.Platform)}
	found := installed.OnPath(getenv("PATH"))
	return append(append(out, onPath(found, getenv)...), inKrew(found, getenv)...)
}

// onPath reports the programs on the PATH: kubectl runs the first.
func onPath(found []installed.Program, getenv func(string) string) []verdict.Line {
	if len(found) == 0 {
		return []verdict.Line{verdict.Odd("plugin", "put the program on the PATH as kubectl-kruise", "kubectl finds no plugin kruise on the PATH")}
	}
	first := found[0]
	if !first.Own() {
		return []verdict.Line{verdict.Odd("plugin", first.Replace(getenv), "kubectl runs %s, which is %s", first.File, of(first))}
	}
	var out []verdict.Line
	for _, other := range found[1:] {
		if other.Own() {
			out = append(out, verdict.Odd("plugin", "delete the one that you do not use", "%s is on the PATH, too", other.File))
			continue
		}
		out = append(out, verdict.Odd("plugin", other.Replace(getenv), "%s is on the PATH, too: %s", other.File, of(other)))
	}
	return append(out, verdict.Good("plugin", "kubectl runs %s", first.File))
}

// of names a program that is not this one.
func of(p installed.Program) string {
	switch {
	case p.Older():
		return "the older plugin (" + p.Module + ")"
	case p.Module != "":
		return "another program (" + p.Module + ")"
	}
	return "another program"
}

// inKrew reports the plugin of this name that krew has installed. Nothing is said where the
// lines of the PATH already ask to replace it.
func inKrew(found []installed.Program, getenv func(string) string) []verdict.Line {
	r, ok := installed.InKrew(getenv)
	if !ok {
		return nil
	}
	if r.Own() {
		return []verdict.Line{verdict.Good("krew", "krew has installed %s", r)}
	}
	for _, p := range found {
		if !p.Own() && p.Replace(getenv) == r.Replace() {
			return nil
		}
	}
	what := "another plugin"
	if r.Older() {
		what = "the older plugin"
	}
	return []verdict.Line{verdict.Odd("krew", r.Replace(), "krew has installed %s, which is %s", r, what)}
}
