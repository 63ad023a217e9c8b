package archtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHints_QuoteTheirCommands: a command in a sentence has quotes around it, so that the
// connection flags are added to it where it is printed (factory.Copyable), and a text that begins
// with a command is nothing else.
func TestHints_QuoteTheirCommands(t *testing.T) {
	eachText(t, func(where, text string) {
		if reason := unquotedCommand(text); reason != "" {
			t.Errorf("%s: %q: %s", where, text, reason)
		}
	})
}

var (
	commandInText = regexp.MustCompile("(^|.)kubectl kruise [a-z]+")
	plainWord     = regexp.MustCompile(`^[a-z]+$`)
)

// unquotedCommand reports why the commands of a text cannot be completed; "" where they can, or
// where the text is a help text of several lines.
func unquotedCommand(text string) string {
	if strings.Contains(text, "\n") {
		return ""
	}
	for _, m := range commandInText.FindAllStringSubmatch(text, -1) {
		if !strings.ContainsAny(m[1], "'\"`(") && !strings.HasPrefix(strings.TrimSpace(text), "kubectl kruise ") {
			return "quote the command with '"
		}
	}
	arguments, whole := strings.CutPrefix(text, "kubectl kruise ")
	if !whole {
		return ""
	}
	words := strings.Fields(arguments)
	if n := slices.IndexFunc(words, func(w string) bool { return !plainWord.MatchString(w) }); n > 2 || n < 0 && len(words) > 2 { // a verb has two words at most
		return "the text begins with a command: quote the command with '"
	}
	return ""
}

func TestUnquotedCommand_IsFound(t *testing.T) {
	for text, found := range map[string]bool{
		"'kubectl kruise ui' shows them":                       false,
		"kubectl kruise rollout resume cloneset/web -n shop":   false,
		"kubectl kruise rollout ":                              false,
		"resume it: kubectl kruise rollout resume":             true,
		"kubectl kruise simulate shows how far it comes":       true,
		"Explain:\n  kubectl kruise why cloneset/web explains": false,
	} {
		if got := unquotedCommand(text); (got != "") != found {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// counting is a number before a plural. A number and its noun are written by package counted,
// unless the number cannot be 1.
var counting = regexp.MustCompile(`%d ((more|of|other|updated|upgraded|old|new|ready|of these|replaced) )*(pods?|nodes?|steps?|images?|containers?|workloads?|budgets?|replicas|fields?|restarts?|rollouts?|objects?|subsets?|errors?|warnings?|problems?|members?|files?|documents?|namespaces?|findings?|lines?|times|seconds|minutes|bytes|entries|patches|places|hosts|changes|permissions|kinds|SidecarSets|revisions|events|tokens|resources|targets|others)\b`)

// manyOnly are texts whose number is never 1, each with the reason.
var manyOnly = map[string]string{
	"%d pods are more than the %d that a model of a cluster holds":                                "thousands",
	"%d images are more than %d":                                                                  "more than a limit of the API",
	"the annotations of workload %s would have %d bytes, more than the %d that Kubernetes allows": "more than a limit of the API",
	"--parallel: %d nodes at a time are too few":                                                  "0 or less",
	"--max-surge: %d pods at a time are too few":                                                  "0 or less",
	"%s was rendered into %d objects: %s":                                                         "several",
	"the chart has more than %d files":                                                            "a constant",
	"the chart is larger than %d MiB, or has more than %d files":                                  "a constant",
	"charts are packed into charts more than %d times":                                            "a constant",
	"budget %s: more than %d pods are recorded":                                                   "a constant",
	"%w: it holds more than %d values or %d bytes":                                                "a constant",
	"%w: this one more than %d times":                                                             "a constant",
	"%w: more than %d bytes in all":                                                               "a constant",
	"the ordinals of more than %d pods are not mapped to subsets":                                 "a constant",
}

// TestMessages_CountInSingularAndPlural: no message of the program is "1 pods".
func TestMessages_CountInSingularAndPlural(t *testing.T) {
	used := map[string]bool{}
	eachText(t, func(where, text string) {
		if strings.Contains(where, "/internal/testing/") {
			return // what tests report
		}
		m := counting.FindString(text)
		switch {
		case m == "":
		case manyOnly[text] != "":
			used[text] = true
		default:
			t.Errorf("%s: %q in %q is wrong for 1: use package counted", where, m, text)
		}
	})
	for text := range manyOnly {
		if !used[text] {
			t.Errorf("no text is %q: remove it from the list", text)
		}
	}
}
