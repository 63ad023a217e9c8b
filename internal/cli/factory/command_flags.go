package factory

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// CommandFlags are -n and --context as the user gave them, each after a space: a command that a
// hint prints carries them, so that it can be copied as it is.
func (f *Factory) CommandFlags() string {
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
