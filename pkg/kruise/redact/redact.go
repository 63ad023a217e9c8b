// Package redact rebuilds messages of libraries about manifests without the content of the
// manifests. Errors of YAML and JSON parsers, of kustomize and of Helm quote what they could not
// use: nodes, patches, literals, lines of env files. If a Secret may be in it, such a message is
// never passed on; [Message] builds another one from the fixed phrases of the libraries and from
// names that the caller knows to be no secret. [Object], [Value] and [Patch] hide what is likely to
// be secret in objects, pod templates and patches before they are printed, stored in a plan or sent
// to a log.
package redact

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Masked replaces a value that is not shown.
const Masked = "***"

// Words are the parts of names whose values are likely to be secret, as a regular
// expression without groups.
const Words = `passw|passphrase|passcode|secret|token|credential|private|connection[-_.]?string|(?:admin|db|key|ldap|mail|my|pg|redis|require|root|smtp|store|user)pass|(?:access|account|api|encryption|hmac|license|master|session|shared|signing|ssh|storage)[-_.]?key`

// shortWords are parts of names that count where nothing but the name's own separators is around
// them: a compass is no pass.
const shortWords = `pwd|pw|pass|jwt|dsn|creds|otp`

var (
	name = regexp.MustCompile(`(?i)` + Words + `|(?:^|[_.-])(?:` + shortWords + `)(?:$|[_.-])`)
	near = regexp.MustCompile(`(?i)` + Words + `|(?:^|[^a-z0-9])(?:` + shortWords + `)(?:$|[^a-z0-9])`)
)

// Name reports whether what goes by a name is likely to be secret: an environment variable,
// a label, an annotation.
func Name(s string) bool { return name.MatchString(s) }

// Text reports whether something in a text may be secret: it names a Secret, a generator of
// one, or anything of such a [Name].
func Text(text []byte) bool { return near.Match(text) }

// Names are words that are no secrets: names of files, kinds and objects.
type Names map[string]bool

// Add adds a name and its parts; a text with blanks in it is no name.
func (n Names) Add(name string) {
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return
	}
	n[name] = true
	for _, p := range strings.FieldsFunc(name, func(r rune) bool { return !part(r) }) {
		n[p] = true
	}
}

// Message returns a library's message, on one line, with [Masked] in place of all that is neither
// a phrase of the libraries' sources (phrases.txt, and further), nor a number behind "line" and
// the like, nor a word all of whose parts are in known.
func Message(said string, known Names, further ...string) string {
	m := message{text: strings.Join(strings.Fields(said), " "), known: known, further: catalogue(further)}
	m.read()
	return strings.TrimSpace(m.out.String())
}

// message is one that is being read; at is where.
type message struct {
	text    string
	at      int
	known   Names
	further map[string][]string

	out strings.Builder
	// hidden is true if the last that was written is [Masked], counted that a number may
	// follow.
	hidden, counted bool
	// colon is true if one was between the last word and this.
	colon bool
}

func (m *message) read() {
	for m.at < len(m.text) {
		if n := separator(m.text[m.at:]); n > 0 {
			m.colon = m.colon || m.text[m.at] == ':'
			m.at += n
			continue
		}
		if p := m.phrase(); p != "" {
			m.show(p)
			last := words(p)
			m.counted = counters[strings.ToLower(last[len(last)-1])]
			m.at += len(p)
			m.colon = strings.HasSuffix(p, ":")
			continue
		}
		word := m.word()
		m.at += len(word)
		if counters[word] && !m.hidden && numbered.MatchString(m.text[m.at:]) {
			m.show(word)
			m.counted = true
			continue
		}
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		switch {
		case bare == "":
		case m.counted && number.MatchString(bare):
			m.show(bare + ending(word))
		case m.named(word):
			m.show(strings.TrimRight(word, ",;."))
		case !m.hidden:
			m.show(Masked)
			m.hidden = true
		}
		m.counted = false
	}
}

// counters are words that a number of a place follows, which is not secret.
var counters = map[string]bool{"line": true, "column": true, "offset": true, "index": true}

var (
	number   = regexp.MustCompile(`^[0-9]{1,7}$`)
	numbered = regexp.MustCompile(`^ [0-9]{1,7}\b`)
)

func ending(word string) string {
	if strings.HasSuffix(word, ":") {
		return ":"
	}
	return ""
}

func (m *message) show(text string) {
	if m.colon && m.out.Len() > 0 && !strings.HasSuffix(m.out.String(), ":") {
		m.out.WriteByte(':')
	}
	if m.out.Len() > 0 {
		m.out.WriteByte(' ')
	}
	m.colon = false
	m.out.WriteString(text)
	m.hidden = false
}

// phrase is the longest one that begins here, with the rest of the message or the end of a
// word behind it.
func (m *message) phrase() string {
	rest := m.text[m.at:]
	first := initial(rest)
	for _, from := range []map[string][]string{m.further, phrases()} {
		for _, p := range from[first] {
			if strings.HasPrefix(rest, p) && boundary(p, rest[len(p):]) {
				return p
			}
		}
	}
	return ""
}

// boundary reports whether a phrase ends where a word does.
func boundary(phrase, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(phrase)
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !part(last) || !part(next)
}

func part(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }

// word is what is here up to a blank or a quotation mark.
func (m *message) word() string {
	rest := m.text[m.at:]
	if i := strings.IndexFunc(rest, quoteOrSpace); i > 0 {
		return rest[:i]
	}
	return rest
}

func quoteOrSpace(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`", r) }

// separator is how many bytes between words are here.
func separator(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	// Whether a word begins with a character that only frames it.
	if quoteOrSpace(r) || strings.ContainsRune("([{<:;,.=", r) {
		return n
	}
	return 0
}

// named reports whether the caller knows the word, or all its parts.
func (m *message) named(word string) bool {
	if trimmed := strings.TrimRight(word, ":;,.)]}"); m.known[strings.TrimLeft(trimmed, "([{")] {
		return true
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return !part(r) })
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p string) bool { return !m.known[p] && !idWords[p] })
}

// idWords are words of libraries that are no phrases: what kustomize writes in identities where
// there is no group or namespace, what parsers begin with, calls of the system, and the builtin
// plugins of kustomize.
var idWords = wordSet(`yaml json noGrp noNs noKind noName noVer open openat read stat lstat fstat readdir readlink evalsymlink mkdir remove
AnnotationsTransformer ConfigMapGenerator HashTransformer HelmChartInflationGenerator IAMPolicyGenerator ImageTagTransformer LabelTransformer
NamespaceTransformer PatchJson6902Transformer PatchStrategicMergeTransformer PatchTransformer PrefixTransformer PrefixSuffixTransformer
ReplacementTransformer ReplicaCountTransformer SecretGenerator SortOrderTransformer SuffixTransformer ValueAddTransformer`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

//go:embed phrases.txt
var phrasesText string

// standard are phrases of Go's standard library, and of Helm.
//
//go:embed standard.txt
var standardText string

var phrases = sync.OnceValue(func() map[string][]string {
	return catalogue(slices.Concat(strings.Split(phrasesText, "\n"), strings.Split(standardText, "\n")))
})

// catalogue orders phrases by their first words, the longest first.
func catalogue(list []string) map[string][]string {
	out := map[string][]string{}
	for _, p := range list {
		if p = phrase(p); usable(p) {
			out[initial(p)] = append(out[initial(p)], p)
		}
	}
	for _, same := range out {
		slices.SortFunc(same, func(a, b string) int { return len(b) - len(a) })
	}
	return out
}

// phrase is a part of a message's format without what would only frame what is filled in.
func phrase(s string) string {
	left := strings.TrimLeft(strings.Join(strings.Fields(s), " "), " ,;:.)]}'\"`=-")
	out := strings.TrimRight(left, " '\"`([{<=")
	if strings.Count(out, "'")%2 == 1 && strings.HasPrefix(left[len(out):], "'") {
		out += "'" // it ends what the phrase itself quotes
	}
	return out
}

// usable reports whether a phrase is more than a word: a word may be a value.
func usable(phrase string) bool {
	first, _ := utf8.DecodeRuneInString(phrase)
	return len(words(phrase)) > 1 && strings.Contains(phrase, " ") && (first == '#' || unicode.IsLetter(first))
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

// initial is the first word of a text, by which phrases are looked up.
func initial(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !part(r) }); i >= 0 {
		return s[:i]
	}
	return s
}
