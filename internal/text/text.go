// Package text makes strings safe to show that come from a manifest, a cluster, a
// file name or a server: there is one function per medium, and what would act there
// instead of being read is shown as an escape such as \u001b.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes s safe within one line on a terminal and in a log: control characters,
// newlines and tabs, characters that are invisible or turn the direction of text, and
// invalid UTF-8 become escapes. Letters, accents, emoji and their joiners stay.
func Line(s string) string { return escape(s, "", false) }

// Block is as Line, but for newlines and tabs, which stay.
func Block(s string) string { return escape(s, "\n\t", false) }

// Page is as Block, but for the colours that this program uses.
func Page(s string) string { return escape(s, "\n\t", true) }

// Painted is as Line, but for the colours that this program uses.
func Painted(s string) string { return escape(s, "", true) }

// escape shows what acts, except for the characters in keep and, if colors, our own
// colours.
func escape(s, keep string, colors bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := colorAt(s[i:]); colors && n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !acts(r) || strings.ContainsRune(keep, r) || joins(s, i, n, r):
			b.WriteString(s[i : i+n])
		default:
			b.WriteString(visible(r))
		}
		i += n
	}
	return b.String()
}

// plain reports whether s is printable ASCII, as nearly everything is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// acts reports whether r does something instead of being seen: control and format
// characters (bidirectional ones, zero-width ones, tags), and separators of lines.
func acts(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// joins reports a zero-width joiner that holds two symbols together, as in the emoji
// of a family.
func joins(s string, at, size int, r rune) bool {
	if r != '\u200d' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at+size:])
	symbol := func(r rune) bool { return unicode.In(r, unicode.So, unicode.Sk) || r == '\ufe0f' }
	return symbol(before) && symbol(after)
}

func visible(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// colorAt is the length of the colour sequence of this program that s begins with, or 0.
func colorAt(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for _, c := range []string{"0m", "1m", "2m", "31m", "32m", "33m"} {
		if strings.HasPrefix(s[2:], c) {
			return 2 + len(c)
		}
	}
	return 0
}

// ShellWord is an argument of a command line for a POSIX shell: quoted if it has to be.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
