package factory

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// quotedCommand is a command of kubectl or of this program, with those it is piped to, in quotes.
var quotedCommand = regexp.MustCompile(`'kubectl [^']*'`)

// Copyable adds the connection flags that the user gave to the commands that a text has in
// quotes, or to the one that it is, so that they work for the same cluster and namespace when
// they are copied.
func (f *Factory) Copyable(text string) string {
	if strings.HasPrefix(text, "kubectl ") {
		return f.WithConnection(text)
	}
	return quotedCommand.ReplaceAllStringFunc(text, func(quoted string) string {
		return "'" + f.WithConnection(strings.Trim(quoted, "'")) + "'"
	})
}

// WithConnection adds the connection flags that the user gave to a command. Of
// a pipe, the last command asks the cluster.
func (f *Factory) WithConnection(line string) string {
	last := line[strings.LastIndexByte(line, '|')+1:]
	if offline(last) {
		return line
	}
	if ns := f.Flags.Namespace; ns != nil && *ns != "" && last == line && !hasFlag(line, "-n", "--namespace", "-A", "--all-namespaces") && !ofCluster(line) {
		line += " -n " + quoteArgument(*ns)
	}
	for _, flag := range []struct {
		name  string
		value *string
	}{{"--context", f.Flags.Context}, {"--kubeconfig", f.Flags.KubeConfig}} {
		if flag.value != nil && *flag.value != "" && !hasFlag(line, flag.name) {
			line += " " + flag.name + " " + quoteArgument(*flag.value)
		}
	}
	return line
}

// ofCluster reports whether a command names an object of Kruise, as TYPE/NAME, that is in no namespace.
func ofCluster(line string) bool {
	for word := range strings.FieldsSeq(line) {
		kind, name, typed := strings.Cut(word, "/")
		if !typed || name == "" {
			continue
		}
		kind, _, _ = strings.Cut(kind, ".")
		for _, k := range kruise.Kinds() {
			if k.ClusterScoped && slices.Contains(k.Words(), strings.ToLower(kind)) {
				return true
			}
		}
	}
	return false
}

// offline reports whether a command asks no cluster.
func offline(line string) bool {
	words := strings.Fields(line)
	if hasFlag(line, "--help", "-h") {
		return true
	}
	if len(words) > 1 && words[1] == "krew" {
		return true
	}
	if len(words) < 3 || words[1] != "kruise" {
		return false
	}
	switch words[2] {
	case "rbac", "render", "convert", "simulate", "schema", "completion":
		return true
	}
	return false
}

// hasFlag reports whether a command has one of the flags.
func hasFlag(line string, names ...string) bool {
	for word := range strings.FieldsSeq(line) {
		name, _, _ := strings.Cut(word, "=")
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// plainArgument is what a shell takes as it is.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoteArgument is an argument as a shell wants it. Commands stand in single quotes in a text,
// so double ones are used.
func quoteArgument(value string) string {
	if plainArgument.MatchString(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`
}

// commandFlags are -n and --context as the user gave them, each after a space: a command that a
// hint prints carries them, so that it can be copied as it is.
func (f *Factory) commandFlags() string {
	var b strings.Builder
	if f.Flags != nil {
		for _, flag := range []struct {
			name  string
			value *string
		}{{" -n ", f.Flags.Namespace}, {" --context ", f.Flags.Context}} {
			if flag.value != nil && *flag.value != "" {
				b.WriteString(flag.name + text.ShellWord(*flag.value))
			}
		}
	}
	return b.String()
}
