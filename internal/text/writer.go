package text

import (
	"io"
	"strings"
)

// Writer returns a writer for people's text in front of w: whatever reaches it, no
// control character but newline, tab and our own colours gets through, and no line is
// a command to a CI runner (:: at its beginning, ##[ anywhere). Each call has to hold
// whole lines, or the beginning of one is taken for the beginning of a line.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

// Write reports len(p) where all was written.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, CI(escape(string(p), "\n\t", true))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CI makes lines of text harmless in the log of a CI runner, which obeys lines that
// begin with :: (after blanks) and those that hold ##[. Other text stays as it is.
func CI(s string) string {
	if !strings.Contains(s, "::") && !strings.Contains(s, "##[") {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		rest := strings.TrimSpace(uncolored(line))
		if strings.HasPrefix(rest, "::") {
			line = strings.Replace(line, "::", `\u003a:`, 1)
		}
		lines[i] = strings.ReplaceAll(line, "##[", `#\u0023[`)
	}
	return strings.Join(lines, "")
}

// uncolored is s without our colours at its beginning, which runners may strip.
func uncolored(s string) string {
	for {
		trimmed := strings.TrimLeft(s, " \t")
		n := colorAt(trimmed)
		if n == 0 {
			return trimmed
		}
		s = trimmed[n:]
	}
}

// Annotation makes s the message of one of GitHub's workflow commands; newlines stay in it,
// encoded.
func Annotation(s string) string {
	s = strings.ReplaceAll(Block(s), "##[", `#\u0023[`)
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(s)
}

// Property makes s the value of a property of one of GitHub's workflow commands.
func Property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(Annotation(s))
}
