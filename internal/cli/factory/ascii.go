package factory

import "strings"

// ASCII reports whether a terminal can show no more than ASCII: by its locale, as the
// first of the variables says that is set, or because it is the Linux console.
func ASCII(getenv func(string) string) bool {
	if getenv == nil {
		return false
	}
	if t := getenv("TERM"); t == "linux" || t == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}
