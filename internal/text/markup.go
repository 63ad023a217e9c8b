package text

import "strings"

// gap parts what a forge would make a mention, a link or a reference of: an invisible
// character, written as an entity. Forges look for these in the text that they have
// rendered, where a mere escape of the character is gone.
const gap = "&#8203;"

var (
	markup = strings.NewReplacer(
		`\`, `\\`, "`", "'", "*", `\*`, "_", `\_`, "~", `\~`, "[", `\[`, "]", `\]`, "|", `\|`, "$", `\$`,
		"&", "&amp;", "<", "&lt;", ">", "&gt;")
	inert = strings.NewReplacer("@", "@"+gap, "#", "#"+gap, "://", ":"+gap+"//", "www.", "www"+gap+".", "WWW.", "WWW"+gap+".", "GH-", "GH"+gap+"-")
)

// Markdown makes s plain text in a paragraph or a cell of a table of GitHub's and
// GitLab's Markdown: no markup, HTML, mention, link, reference or line of its own.
func Markdown(s string) string {
	s = Line(s)
	first := strings.TrimLeft(s, " ")
	s = inert.Replace(markup.Replace(s)) // the entities of markup hold no #
	if first != "" && strings.ContainsRune("-+=", rune(first[0])) {
		return `\` + strings.TrimLeft(s, " ")
	}
	return s
}

// elements has no numeric entities, whose # would be taken for a reference.
var elements = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// HTML makes s plain text in an element or in a quoted attribute, in a comment on a
// forge, too.
func HTML(s string) string { return inert.Replace(elements.Replace(Line(s))) }

// Code makes s a code span of Markdown, which nothing in s can close.
func Code(s string) string {
	s = Line(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if fence == "`" {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	return fence + " " + s + " " + fence
}

// CodeCell is Code in a cell of a table. A bar after a backslash is shown as an escape,
// since renderers differ in what the two mean.
func CodeCell(s string) string {
	return strings.ReplaceAll(Code(strings.ReplaceAll(s, `\|`, `\\u007c`)), "|", `\|`)
}
