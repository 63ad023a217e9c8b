package doctor

import (
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
)

// clientLines reports which build this is, which program kubectl runs as the plugin, and which
// one krew has installed.
func clientLines(getenv func(string) string) []VerdictLine {
	i := version.Get()
	out := []VerdictLine{Passed("client", "kubectl-kruise %s, %s", i.Version, i.Platform)}
	found := version.OnPath(getenv("PATH"))
	return append(append(out, programsOnPath(found, getenv)...), programsInKrew(found, getenv)...)
}

// programsOnPath reports the programs on the PATH: kubectl runs the first.
func programsOnPath(found []version.Program, getenv func(string) string) []VerdictLine {
	if len(found) == 0 {
		return []VerdictLine{Warned("plugin", "put the program on the PATH as kubectl-kruise", "kubectl finds no plugin kruise on the PATH")}
	}
	first := found[0]
	if !first.Own() {
		return []VerdictLine{Warned("plugin", first.Replace(getenv), "kubectl runs %s, which is %s", first.File, programText(first))}
	}
	var out []VerdictLine
	for _, other := range found[1:] {
		if other.Own() {
			out = append(out, Warned("plugin", "delete the one that you do not use", "%s is on the PATH, too", other.File))
			continue
		}
		out = append(out, Warned("plugin", other.Replace(getenv), "%s is on the PATH, too: %s", other.File, programText(other)))
	}
	return append(out, Passed("plugin", "kubectl runs %s", first.File))
}

// programText names a program that is not this one.
func programText(p version.Program) string {
	switch {
	case p.Older():
		return "the older plugin (" + p.Module + ")"
	case p.Module != "":
		return "another program (" + p.Module + ")"
	}
	return "another program"
}

// programsInKrew reports the plugin of this name that krew has installed. Nothing is said where the
// lines of the PATH already ask to replace it.
func programsInKrew(found []version.Program, getenv func(string) string) []VerdictLine {
	r, ok := version.InKrew(getenv)
	if !ok {
		return nil
	}
	if r.Own() {
		return []VerdictLine{Passed("krew", "krew has installed %s", r)}
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
	return []VerdictLine{Warned("krew", r.Replace(), "krew has installed %s, which is %s", r, what)}
}
