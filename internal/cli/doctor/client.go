package doctor

import (
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
)

// clientLines reports which build this is, which program kubectl runs as the plugin, and which
// one krew has installed.
func clientLines(getenv func(string) string) []verdictLine {
	i := version.Get()
	out := []verdictLine{passed("client", "kubectl-kruise %s, %s", i.Version, i.Platform)}
	found := version.OnPath(getenv("PATH"))
	return append(append(out, programsOnPath(found, getenv)...), programsInKrew(found, getenv)...)
}

// programsOnPath reports the programs on the PATH: kubectl runs the first.
func programsOnPath(found []version.Program, getenv func(string) string) []verdictLine {
	if len(found) == 0 {
		return []verdictLine{warned("plugin", "put the program on the PATH as kubectl-kruise", "kubectl finds no plugin kruise on the PATH")}
	}
	first := found[0]
	if !first.Own() {
		return []verdictLine{warned("plugin", first.Replace(getenv), "kubectl runs %s, which is %s", first.File, programText(first))}
	}
	var out []verdictLine
	for _, other := range found[1:] {
		if other.Own() {
			out = append(out, warned("plugin", "delete the one that you do not use", "%s is on the PATH, too", other.File))
			continue
		}
		out = append(out, warned("plugin", other.Replace(getenv), "%s is on the PATH, too: %s", other.File, programText(other)))
	}
	return append(out, passed("plugin", "kubectl runs %s", first.File))
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

// programsInKrew reports the plugin of this name that krew has installed. Nothing is reported where the
// lines of the PATH already ask to replace it.
func programsInKrew(found []version.Program, getenv func(string) string) []verdictLine {
	r, ok := version.InKrew(getenv)
	if !ok {
		return nil
	}
	if r.Own() {
		return []verdictLine{passed("krew", "krew has installed %s", r)}
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
	return []verdictLine{warned("krew", r.Replace(), "krew has installed %s, which is %s", r, what)}
}
