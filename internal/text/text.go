// Package text makes strings safe to show that come from a manifest, a cluster, a
// file name or a server: there is one function per medium, and what would act there
// instead of being read is shown as an escape such as \u001b.
package text

import (
	"crypto/rand"
	"fmt"
	"math/big"
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

// Page is as Block, with the colours of [Paint]: it is for what goes to a terminal as it is.
func Page(s string) string { return escape(strings.ReplaceAll(s, whole, ""), "\n\t", true) }

// Painted is as Line, with the colours of [Paint]: it is for what goes to a terminal as it is.
func Painted(s string) string { return escape(strings.ReplaceAll(s, whole, ""), "", true) }

// brush begins a colour of this program's until the text is written: a character of no meaning,
// chosen when the process starts, so that no text of others has it. An escape sequence of theirs is
// shown, also one that would only be a colour: a green OK is ours.
var brush = newBrush()

// The private use characters of plane 16.
const (
	firstBrush = 0x100000
	brushes    = 0xfffe
)

func newBrush() string {
	n, err := rand.Int(rand.Reader, big.NewInt(brushes))
	if err != nil {
		return string(rune(firstBrush)) // crypto/rand does not fail
	}
	return string(rune(firstBrush + n.Int64()))
}

// Paint is s in a colour: 1 bold, 2 faint, 31 red, 32 green, 33 yellow. The result keeps its colour in
// [Line] and [Block], and has it where it is written.
func Paint(color, s string) string { return brush + "[" + color + "m" + s + Unpainted }

// Unpainted ends a colour.
var Unpainted = brush + "[0m"

// IsBrush reports whether a character begins a colour of [Paint], which ends with an m.
func IsBrush(r rune) bool { return string(r) == brush }

// escape shows what acts, except for the characters in keep. Our own colours stay, and with colors
// become those of a terminal.
func escape(s, keep string, colors bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := colorAt(s[i:], brush); n > 0 {
			if colors {
				b.WriteString("\x1b" + s[i+len(brush):i+n])
			} else {
				b.WriteString(s[i : i+n])
			}
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

// colorAt is the length of the colour sequence that s begins with, or 0; start is its first
// character.
func colorAt(s, start string) int {
	rest, ok := strings.CutPrefix(s, start+"[")
	if !ok {
		return 0
	}
	for _, c := range []string{"0m", "1m", "2m", "10m", "31m", "32m", "33m"} {
		if strings.HasPrefix(rest, c) {
			return len(s) - len(rest) + len(c)
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
