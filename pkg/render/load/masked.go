package load

import (
	"regexp"
	"strings"
	"sync"
)

// quotation is a part of an error that repeats what a file holds.
type quotation struct {
	is *regexp.Regexp
	by string
}

// quotations are where kustomize's errors repeat patches, literals, lines of
// env files and whole objects: each may hold the value of a Secret. The first
// ones come before those that can stand in what they cut. They are compiled for the first
// error.
var quotations = sync.OnceValue(func() []quotation {
	return []quotation{
		{regexp.MustCompile("(?s)with config: `.*`: "), "with its config: "},
		{regexp.MustCompile(`\[patch: "(?:[^"\\]|\\.)*"\]`), "an inline patch"},
		{regexp.MustCompile(`(?s)(with its config: )decoding .*: `), "${1}decoding the patch: "},
		{regexp.MustCompile(`(?s)(must specify one of patch and path|patch and path can't be set at the same time|patch appears to be empty)[ ;\n].*`), "$1"},
		{regexp.MustCompile(`(?s)(must specify a target for (?:JSON )?patch) .*`), "$1"},
		{regexp.MustCompile(`(?s)literal sources \[.*\]: `), "literal sources: "},
		{regexp.MustCompile(`(?s)invalid literal source .*, expected`), "an invalid literal source, expected"},
		{regexp.MustCompile(`(?s)line \[[0-9 ]*\] has invalid utf8 bytes : .*`), "a line is not UTF-8 text"},
		{regexp.MustCompile(`(?s)(missing metadata\.name|empty item at \[.*?\]) in object .*?(': must build|$)`), "$1$2"},
		{regexp.MustCompile(`(?s)(shouldn't modify the resource map|out of bounds for value|expected 1 resource, found [0-9]+)[ :].*`), "$1"},
		{regexp.MustCompile(`(?s)^map\[string\]interface \{\}.*: `), ""},
		{regexp.MustCompile(`(?s)(wrong Node Kind.*?): value: \{.*\}`), "$1"},
		{regexp.MustCompile(`unknown anchor '.*?' referenced`), "unknown anchor"},
		{regexp.MustCompile(`(?s)accumulation err='(.*)': must build at directory: '[^']*': file is not directory`), "$1"},
	}
})

// shortened are what quotations leave of kustomize's own phrases, and put in their place.
var shortened = []string{
	"with its config:", "an inline patch", "decoding the patch:", "literal sources:", "an invalid literal source, expected key=value",
	"a line is not UTF-8 text", "missing metadata.name", "empty item at", "wrong Node Kind for", "unknown anchor",
}

// masked returns what kustomize says, on one line, without what it quotes.
func masked(msg string) string {
	for _, q := range quotations() {
		msg = q.is.ReplaceAllString(msg, q.by)
	}
	return strings.Join(strings.Fields(msg), " ")
}
