package command

import "github.com/spf13/pflag"

// PlainBools lists boolean flags by their name, as kubectl does: --watch instead of
// --watch[=true|false]. The function that it returns restores the flags.
func PlainBools(sets ...*pflag.FlagSet) (restore func()) {
	values := map[*pflag.Flag]pflag.Value{}
	for _, set := range sets {
		set.VisitAll(func(flag *pflag.Flag) {
			if _, done := values[flag]; !done && flag.Value.Type() == "bool" {
				values[flag] = flag.Value
				flag.Value = plainBool{flag.Value}
			}
		})
	}
	return func() {
		for flag, value := range values {
			flag.Value = value
		}
	}
}

// plainBool is the value of a flag without the method by which pflag knows a boolean.
type plainBool struct{ pflag.Value }
